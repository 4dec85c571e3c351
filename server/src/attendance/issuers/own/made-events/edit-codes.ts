import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import { inTransaction } from '../../../../db/transaction.ts'
import { AppError } from '../../../../errors.ts'
import { notMadeHere } from '../own-event-ids.ts'
import { hashOfEditCode, newEditCode } from './edit-code.ts'
import { codeNameTaken, noSuchCode } from './event-texts.ts'
import { findMadeEvent } from './made-event-queries.ts'
import { endCode, insertCode, listCodes, lockNames, replaceFirstCode } from './named-code-queries.ts'

/** How many codes for co-organisers an event may have at a time. */
export const MAX_CODES = 5

/** The edit codes of events that were made here: the first one of each, and named ones for co-organisers. */
export class EditCodes {
  private readonly db: Db
  private readonly clock: Clock
  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /**
   * Whether a code that is right may also decide about codes and the end of an event: the first one alone.
   *
   * @throws {AppError} `first_code_only`
   */
  async assertFirst(eventId: number, editCode: string): Promise<void> {
    const made = await findMadeEvent(this.db, eventId)
    if (made && timingSafeEqual(made.edit_code_hash, hashOfEditCode(editCode))) return
    throw new AppError(
      'first_code_only',
      'Only the first edit code of the event may do this. Ask the organiser who made the event.',
    )
  }

  /**
   * Makes a code for a co-organiser.
   *
   * @returns the code, of which nothing but a hash is stored
   * @throws {AppError} `too_many_codes`, `invalid_parameter` where a valid code has the name
   */
  make(eventId: number, name: string): Promise<string> {
    const code = newEditCode()
    return inTransaction(this.db, async (tx) => {
      const names = await lockNames(tx, eventId)
      if (names.includes(name)) throw codeNameTaken(name)
      if (names.length >= MAX_CODES) throw tooManyCodes()
      await insertCode(tx, eventId, { name, hash: hashOfEditCode(code), nowMs: this.clock.nowMs() })
      return code
    })
  }

  /** Ends a code. @throws {AppError} `invalid_parameter` where no valid code has the name */
  async revoke(eventId: number, name: string): Promise<void> {
    await inTransaction(this.db, async (tx) => {
      if (!(await lockNames(tx, eventId)).includes(name)) throw noSuchCode(name)
      await endCode(tx, eventId, { name, nowMs: this.clock.nowMs() })
    })
  }

  /**
   * Makes a new first code, for an organiser who has lost it. The one before ends; codes of co-organisers stay.
   *
   * @throws {AppError} `event_not_found` for an event that was not made here
   */
  replaceFirst(eventId: number): Promise<string> {
    const code = newEditCode()
    return inTransaction(this.db, async (tx) => {
      if (!(await replaceFirstCode(tx, eventId, hashOfEditCode(code)))) throw notMadeHere()
      const nowMs = this.clock.nowMs()
      await endCode(tx, eventId, { name: null, nowMs })
      await insertCode(tx, eventId, { name: null, hash: null, nowMs })
      return code
    })
  }

  /** What the organiser sees of the codes. */
  async list(eventId: number) {
    const rows = await listCodes(this.db, eventId)
    return rows.map(({ name, made_at_ms, ended_at_ms }) => ({
      name,
      made_at: new Date(made_at_ms).toISOString(),
      ended_at: ended_at_ms === null ? null : new Date(ended_at_ms).toISOString(),
    }))
  }
}

function tooManyCodes(): AppError {
  return new AppError(
    'too_many_codes',
    `The event has ${MAX_CODES} codes for co-organisers, and no more may be valid. Revoke one of them first.`,
  )
}
