import { type Clock, HOUR_MS, MINUTE_MS, withTimeLimit } from '../../clock.ts'
import { deleteUntil } from '../../db/all-events.ts'
import type { Db } from '../../db/engine.ts'
import { findEvent } from '../events/event-queries.ts'
import { askIssuer } from '../issuers/ask-issuer.ts'
import type { Issuer } from '../issuers/issuer.ts'
import type { Vault } from '../secrets/vault.ts'
import type { CodeLoader } from './code-loader.ts'
import { type CodeLoad, deleteLoad, findLoad, putLoad, takeDueLoads } from './load-queries.ts'

/** How long an edit code is stored at most. The issuer approves within three days, usually. */
export const KEPT_MS = 14 * 24 * HOUR_MS
/** How often the issuer is asked for one event, two calls each time. */
export const TRY_EVERY_MS = 15 * MINUTE_MS
/** How many events a process asks for in a minute: beyond it events wait longer. */
const TRIES_AT_ONCE = 5
const UNREADABLE =
  'a stored edit code cannot be decrypted with the keys of this server; it is tried again, and deleted when its 14 days are over'

export interface PendingLoadsOptions {
  readonly db: Db
  readonly clock: Clock
  readonly vault: Vault
  readonly issuer: Pick<Issuer, 'isEditCode'>
  readonly codes: Pick<CodeLoader, 'load'>
  readonly log: { warn(facts: object, sentence: string): void }
}

/**
 * Loads the codes of events whose organisers asked for it, as soon as the issuer has approved them. Until then the edit
 * code is stored, encrypted. It is deleted when the codes are loaded, when the issuer calls it wrong, when the organiser
 * asks for that, and after {@link KEPT_MS} at the latest. A process that dies before the deletion leaves the row, and
 * loading can be repeated: so nothing is lost, and nothing is loaded twice.
 */
export class PendingLoads {
  private readonly options: PendingLoadsOptions
  private timer: NodeJS.Timeout | undefined
  private isClosed = false
  private running: Promise<void> = Promise.resolve()
  constructor(options: PendingLoadsOptions) {
    this.options = options
  }

  /** Stores an edit code that the issuer has called right, for {@link KEPT_MS} from now on. @returns until when, in ms */
  async keep(eventId: number, editCode: string): Promise<number> {
    const { db, clock, vault } = this.options
    const nowMs = clock.nowMs()
    const encrypted = vault.encrypt('edit-code', editCode, String(eventId))
    await putLoad(db, { eventId, encrypted, untilMs: nowMs + KEPT_MS }, nowMs + TRY_EVERY_MS)
    return nowMs + KEPT_MS
  }

  /** Until when an edit code of the event is stored; undefined where none is. */
  async findUntilMs(eventId: number): Promise<number | undefined> {
    return (await findLoad(this.options.db, eventId))?.until_ms
  }

  drop(eventId: number): Promise<void> {
    return deleteLoad(this.options.db, eventId)
  }

  start(): void {
    const run = () => {
      this.running = this.running.then(() => this.tryDue())
    }
    this.timer = setInterval(run, MINUTE_MS).unref()
    run()
  }

  /** Waits for the event that is being asked for, `timeoutMs` at most: another process repeats what is cut off. */
  async close(timeoutMs: number): Promise<void> {
    this.isClosed = true
    clearInterval(this.timer)
    await withTimeLimit(this.running, timeoutMs, () => undefined)
  }

  /** Asks the issuer for the events that are due, one after another. A failure is logged, and tried again. */
  async tryDue(): Promise<void> {
    const { db, clock } = this.options
    const nowMs = clock.nowMs()
    await this.logFailure({}, () => deleteUntil(db, 'code_load', { column: 'until_ms', lastMs: nowMs }))
    await this.logFailure({}, async () => {
      const due = await takeDueLoads(db, { nowMs, nextTryAtMs: nowMs + TRY_EVERY_MS, limit: TRIES_AT_ONCE })
      for (const load of due) {
        if (this.isClosed) return
        await this.logFailure({ event_id: load.eventId }, () => this.tryOne(load))
      }
    })
  }

  private async tryOne({ eventId, encrypted, untilMs }: CodeLoad): Promise<void> {
    const { db, clock, vault, issuer, codes, log } = this.options
    const event = await findEvent(db, { eventId })
    if (!event) return
    // The row stays: a server that was started with a wrong key must lose nothing
    if (!vault.canDecrypt('edit-code', encrypted, String(eventId))) {
      log.warn({ event_id: eventId }, UNREADABLE)
      return
    }
    const editCode = vault.decrypt('edit-code', encrypted, String(eventId))
    const about = { db, clock, eventId }
    const isRight = await askIssuer(() => issuer.isEditCode(eventId, editCode, 'organiser'), about)
    if (isRight && (await codes.load(event, editCode)).listed === 0) return
    await deleteLoad(db, eventId, untilMs)
  }

  private async logFailure(facts: object, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      const sentence = 'codes that wait for their approval could not be loaded; it will be tried again'
      this.options.log.warn({ ...facts, err: error }, sentence)
    }
  }
}
