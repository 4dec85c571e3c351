import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { SECOND_MS } from '../clock.ts'
import type { Engine } from '../db/engine.ts'
import { migrate } from '../db/migrate.ts'
import { isDatabaseRefusal } from '../db/statement-error.ts'
import type { AppError } from '../errors.ts'

const TRY_EVERY_MS = SECOND_MS
const LOG_EVERY_MS = 5 * SECOND_MS

/**
 * Opens the database and brings its tables up to date.
 *
 * @returns why the database cannot be used yet; undefined when it can
 * @throws {CommandError} when waiting would not help: see `Engine.open`
 */
export async function tryToOpen(engine: Engine): Promise<AppError | undefined> {
  try {
    await engine.open()
    await migrate(engine)
    return undefined
  } catch (error) {
    if (isDatabaseRefusal(error)) return error
    throw error
  }
}

/**
 * The wait of a server whose database is away while it starts. The server listens meanwhile: `/health/live` is 200, and
 * everything that needs the database is 503. No request reads the database before its tables are up to date.
 *
 *   away ──opened, migrated──▶ there ──start ends──▶ started
 *    ▲                           │
 *    └────────goes away──────────┘
 */
export class DatabaseWait {
  readonly #engine: Engine
  readonly #server: FastifyInstance
  #absence: AppError | undefined

  /**
   * Call it before the server listens.
   *
   * @param absence why the database cannot be used yet; undefined where it can
   */
  constructor(engine: Engine, server: FastifyInstance, absence: AppError | undefined) {
    this.#engine = engine
    this.#server = server
    this.#absence = absence
    server.addHook('onRequest', (request, _reply, done) => {
      if (this.#absence && request.routeOptions.url !== '/health/live') done(this.#absence)
      else done()
    })
  }

  /**
   * Calls `start` when the database can be used, and again where it goes away before `start` has ended.
   *
   * @returns what `start` returns; false when the server was stopped meanwhile
   */
  async start(stopped: Promise<unknown>, start: () => Promise<boolean>): Promise<boolean> {
    for (;;) {
      if (this.#absence && !(await this.#untilOpen(this.#absence, stopped))) return false
      try {
        return await start()
      } catch (error) {
        if (!isDatabaseRefusal(error)) throw error
        this.#absence = error
      }
    }
  }

  /** Waits, with a line in the log every few seconds. @returns false when the server was stopped meanwhile */
  async #untilOpen(absence: AppError, stopped: Promise<unknown>): Promise<boolean> {
    let current: AppError | undefined = absence
    let isStopped = false
    void stopped.then(() => {
      isStopped = true
    })
    let logAtMs = performance.now()
    while (current && !isStopped) {
      if (performance.now() >= logAtMs) {
        this.#log(current)
        logAtMs = performance.now() + LOG_EVERY_MS
      }
      await Promise.race([setTimeout(TRY_EVERY_MS), stopped])
      if (!isStopped) current = await tryToOpen(this.#engine)
    }
    if (isStopped) return false
    this.#absence = undefined
    this.#server.log.info('the database is there; the server starts')
    return true
  }

  #log({ code, cause }: AppError): void {
    this.#server.log.warn({ code, reason: cause }, 'the database is not there yet; the server waits for it')
  }
}
