import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { isOwnEvent } from '@landpass/server/attendance/issuers/own/own-event-ids'
import { MINUTE_MS } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import { openEngine } from '@landpass/server/db/open-engine'
import { DURABLE, startPostgres, type TestPostgres } from '@landpass/server/test/support/database/postgres'
import {
  end,
  type Running,
  runCommand,
  startServer,
} from '@landpass/server/test/support/processes/measured-processes'
import type { EngineKind, IssuerKind } from '../script.ts'
import { Caller, jsonCall, outcomeOf, type Reply } from './calls.ts'
import { type EventRecords, readEventRecords } from './event-records.ts'
import { readOwnMints } from './own-mints.ts'
import {
  type IssuerControl,
  type Mint,
  type PresenceControl,
  type Simulators,
  startSimulators,
} from './simulators.ts'

/** The place of all events of the scripts. */
export const PLACE = { x: 10, y: 20 } as const
const FIRST_EVENT_ID = 50_001
/** Open sockets of the scripts, to all server processes together. */
const SOCKETS = 256
/** How long claims may be under way after the last request. */
export const SETTLE_AT_MOST_MS = 2 * MINUTE_MS
const SETTLE_POLL_MS = 500

export const ATTENDANCE_KEY = 'a5'.repeat(32)

export interface RigOptions {
  readonly engine: EngineKind
  readonly processes: number
  /** Who makes the tokens of {@link Rig.newEvent}; the simulator by default. */
  readonly issuer?: IssuerKind | undefined
  /** A running PostgreSQL, which the rig stops at the end; a new one by default. */
  readonly database?: Pick<TestPostgres, 'url' | 'stop'>
  /** Arguments of `landpass serve`; `--only attendance` by default, and none with `demoSeed`. */
  readonly args?: readonly string[]
  /** Overrides settings of the servers. */
  readonly env?: Readonly<Record<string, string>>
  /** Serves the land too, a demo world of this seed. */
  readonly demoSeed?: number
  /** Addresses of issuer and presence provider for the servers, if not those of the simulators: see call-counter.ts. */
  readonly via?: (simulators: Simulators) => Promise<{ issuer: string; presence: string }>
}

/** An event that exists at the issuer and is registered at the servers. */
export interface BenchEvent {
  readonly id: number
  readonly editCode: string
  readonly uuid: string
  readonly codes: number
}

export interface Availability {
  readonly total: number
  readonly available: number
  readonly claimed: number
}

/** Starts servers and simulators, runs `work`, and stops them, also after an error. */
export async function withRig<T>(options: RigOptions, work: (rig: Rig) => Promise<T>): Promise<T> {
  const rig = await Rig.start(options)
  try {
    return await work(rig)
  } finally {
    await rig.stop()
  }
}

/** Server processes on one database, an issuer and a presence simulator. */
export class Rig {
  readonly caller: Caller
  /** The simulator of the other issuer. */
  readonly issuer: IssuerControl
  readonly presence: PresenceControl
  /** Undefined where the script has brought its own. */
  readonly postgres: TestPostgres | undefined
  private readonly database: RigOptions['database'] | undefined
  private readonly simulators: Simulators
  private readonly scratch: string
  private readonly env: readonly Record<string, string>[]
  private readonly args: readonly string[]
  private readonly isOwn: boolean
  private readonly servers: Running[] = []
  private nextEventId = FIRST_EVENT_ID

  static async start(options: RigOptions): Promise<Rig> {
    const scratch = mkdtempSync(join(tmpdir(), 'landpass-attendance-'))
    const simulators = await startSimulators()
    const isOwn = options.engine === 'postgres' && !options.database
    const postgres = isOwn ? await startPostgres(DURABLE) : undefined
    const database = options.database ?? postgres
    const { issuer, presence } = (await options.via?.(simulators)) ?? {
      issuer: simulators.issuer.origin,
      presence: simulators.presence.origin,
    }
    const ports = await freePorts(options.processes)
    const env = ports.map((port, i) => ({
      ...serverEnv(issuer, presence),
      PORT: String(port),
      DATA_DIR: join(scratch, `data-${i}`),
      ...(database ? { DATABASE_URL: database.url } : {}),
      ...(options.issuer === 'own' && ownIssuerEnv(scratch)),
      ...options.env,
    }))
    const { args = options.demoSeed === undefined ? ['--only', 'attendance'] : [] } = options
    const rig = new Rig({
      ...{ scratch, simulators, postgres, database, env, args },
      isOwn: options.issuer === 'own',
    })
    try {
      if (options.demoSeed !== undefined)
        await runCommand(['demo', '--seed', String(options.demoSeed)], env[0]!)
      // One after the other, because the first one makes the tables
      for (let i = 0; i < env.length; i++) await rig.startServer(i)
      return rig
    } catch (error) {
      await rig.stop()
      throw error
    }
  }

  private constructor(parts: {
    scratch: string
    simulators: Simulators
    postgres: TestPostgres | undefined
    database: RigOptions['database'] | undefined
    env: readonly Record<string, string>[]
    args: readonly string[]
    isOwn: boolean
  }) {
    this.isOwn = parts.isOwn
    this.args = parts.args
    this.scratch = parts.scratch
    this.simulators = parts.simulators
    this.postgres = parts.postgres
    this.database = parts.database
    this.env = parts.env
    this.issuer = parts.simulators.issuer
    this.presence = parts.simulators.presence
    this.caller = new Caller(Math.ceil(SOCKETS / parts.env.length))
  }

  get origins(): readonly string[] {
    return this.env.map(({ PORT }) => `http://127.0.0.1:${PORT}`)
  }

  /** The processes in turn. */
  originOf(at: number): string {
    return this.origins[at % this.origins.length]!
  }

  pidOf(index: number): number | undefined {
    return this.servers[index]?.child.pid
  }

  /** kill -9. */
  async killServer(index: number): Promise<void> {
    await end(this.servers[index]!.child, 'SIGKILL')
  }

  /** Stops a process as a service manager does, and waits for its end. */
  async stopServer(index: number): Promise<void> {
    await end(this.servers[index]!.child, 'SIGTERM')
  }

  /** Starts a process, or starts it again at the same port. */
  async startServer(index: number): Promise<void> {
    this.servers[index] = await startServer(this.env[index]!, this.args)
  }

  /** Starts one more server with the same settings, on another database. The caller stops it. */
  startServerOn(databaseUrl: string): Promise<Running> {
    const own = { PORT: '0', DATA_DIR: join(this.scratch, 'data-of-another'), DATABASE_URL: databaseUrl }
    return startServer({ ...this.env[0]!, ...own }, this.args)
  }

  /** The file with the keys that sign tokens, of events that are made here. */
  get tokenKeyPath(): string {
    return this.env[0]!.TOKEN_KEY_FILE!
  }

  /** The server process of an index. */
  serverOf(index: number): Running {
    return this.servers[index]!
  }

  /** A new event at the issuer, registered and with all its codes loaded; or one that is made here. */
  async newEvent(codes: number, isOwn = this.isOwn): Promise<BenchEvent> {
    if (isOwn) return this.makeEvent(codes)
    const { id, editCode } = await this.newIssuerEvent(codes)
    const uuid = await this.register(id, editCode)
    const loaded = await this.ok(jsonCall('POST', `/addcodes/${id}`, { editCode }))
    const { total } = (loaded.data as { body: { total: number } }).body
    if (total !== codes) throw new Error(`event ${id} has ${total} codes after loading, wanted ${codes}`)
    return { id, editCode, uuid, codes }
  }

  /** The tokens of an event, as its issuer has them. */
  async mintsOf(eventId: number): Promise<Mint[]> {
    if (!isOwnEvent(eventId)) return this.issuer.mintsOf(eventId)
    return this.withDatabase((db) => readOwnMints(db, eventId))
  }

  private async makeEvent(tokens: number): Promise<BenchEvent> {
    const { data } = await this.ok(
      jsonCall('POST', '/events', {
        name: 'Bench event',
        coordinates: `${PLACE.x},${PLACE.y}`,
        start_date: new Date().toISOString().slice(0, 10),
        tokens,
      }),
    )
    const { event, edit_code } = data as { event: { id: number; uuid: string }; edit_code: string }
    return { id: event.id, uuid: event.uuid, editCode: edit_code, codes: tokens }
  }

  /** An event that exists at the issuer and is not registered. */
  async newIssuerEvent(codes: number): Promise<{ id: number; editCode: string }> {
    const id = this.nextEventId++
    const editCode = String((id * 7919) % 1_000_000).padStart(6, '0')
    await this.issuer.putEvent(id, { edit_code: editCode, codes, name: `Bench event ${id}` })
    return { id, editCode }
  }

  async register(id: number, editCode: string): Promise<string> {
    const body = { editCode, coordinates: `${PLACE.x},${PLACE.y}` }
    const { data } = await this.ok(jsonCall('POST', `/event/${id}`, body))
    return (data as { uuid: string }).uuid
  }

  async availability(event: BenchEvent): Promise<Availability> {
    const { data } = await this.ok({
      method: 'GET',
      path: `/event/${event.uuid}/availability`,
      headers: {},
    })
    return data as Availability
  }

  /** Claims and codes of an event, read from the database while the servers run. */
  records(eventId: number): Promise<EventRecords> {
    return this.withDatabase((db) => readEventRecords(db, eventId, ATTENDANCE_KEY))
  }

  async withDatabase<T>(work: (db: Db) => Promise<T>): Promise<T> {
    const engine = await openEngine({
      databaseUrl: this.database?.url,
      dataDir: this.env[0]!.DATA_DIR!,
      syncToDisk: true,
      poolSize: 2,
      statementTimeoutMs: 0,
      mode: 'join',
    })
    try {
      return await work(engine.db)
    } finally {
      await engine.close()
    }
  }

  /** Waits until no claim of the event is under way, at most `atMostMs`. @returns the records, and how long it took */
  async settle(
    eventId: number,
    atMostMs: number,
    isSettled = (records: EventRecords) => records.underWay.length === 0,
  ): Promise<{ records: EventRecords; tookMs: number }> {
    const startedMs = performance.now()
    for (;;) {
      const records = await this.records(eventId)
      const tookMs = performance.now() - startedMs
      if (isSettled(records) || tookMs > atMostMs) return { records, tookMs }
      await setTimeout(SETTLE_POLL_MS)
    }
  }

  async stop(): Promise<void> {
    this.caller.close()
    for (const { child } of this.servers) await end(child, 'SIGTERM')
    await this.database?.stop()
    await this.simulators.stop()
    rmSync(this.scratch, { recursive: true, force: true })
  }

  private async ok(call: Parameters<Caller['send']>[1]): Promise<Reply> {
    const reply = await this.caller.send(this.origins[0]!, call)
    if (reply.status !== 200)
      throw new Error(`${call.method} ${call.path}: ${outcomeOf(reply)} ${reply.text}`)
    return reply
  }
}

/** Settings for events that are made here, with a key that all processes share. */
function ownIssuerEnv(folder: string): Record<string, string> {
  const path = join(folder, 'token.key')
  writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600 })
  return {
    TOKEN_KEY_FILE: path,
    EVENT_MAKERS: 'anyone',
    LIMIT_EVENTS_PER_MINUTE: '0',
    LIMIT_EVENTS_PER_DAY: '0',
  }
}

function serverEnv(issuer: string, presence: string): Record<string, string> {
  return {
    LOG_LEVEL: 'fatal',
    LIMIT_CLIENT_PER_MINUTE: '0',
    LIMIT_CAPTCHA_IMAGE_PER_MINUTE: '0',
    LIMIT_PLAYER_PER_MINUTE: '0',
    LIMIT_ORGANISER_PER_MINUTE: '0',
    LIMIT_GRANTS_PER_MINUTE: '0',
    ATTENDANCE_KEY,
    ISSUER_URL: issuer,
    ISSUER_TOKEN_URL: `${issuer}/oauth/token`,
    ISSUER_API_KEY: 'simulated-key',
    ISSUER_CLIENT_ID: 'simulated-client',
    ISSUER_CLIENT_SECRET: 'simulated-secret',
    ISSUER_CALLS_PER_SECOND: '10000',
    PRESENCE_PROVIDERS: `participants=${presence}/scene-participants`,
  }
}

/** Opens all probes at the same time, so that all ports are different. */
async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    probes.map(
      (probe) =>
        new Promise<number>((resolve, reject) => {
          probe.once('error', reject)
          probe.listen(0, '127.0.0.1', () => resolve((probe.address() as { port: number }).port))
        }),
    ),
  )
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))))
  return ports
}
