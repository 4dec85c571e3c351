import { type Clock, HOUR_MS } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import type { Approval } from '../../../../db/schema.ts'
import { inTransaction, type Tx } from '../../../../db/transaction.ts'
import { AppError } from '../../../../errors.ts'
import { aboveMaximum, invalidParameter } from '../../../../http/validation.ts'
import { findWaitingChange } from '../../../events/change-queries.ts'
import type { CodeCountCache } from '../../../events/code-count-cache.ts'
import { type Event, getEvent } from '../../../events/event-queries.ts'
import { notMadeHere } from '../own-event-ids.ts'
import {
  applyContent,
  deleteChange,
  findChangedImage,
  lockContent,
  raiseVersion,
  refuseChange,
} from './content-queries.ts'
import { readReason } from './event-texts.ts'
import { deleteRefusedImages, findAnyImage, setApproval, setMayGive } from './made-event-queries.ts'
import { countListed, deleteAbandoned, type WaitingEvent, waitingEvents } from './waiting-event-queries.ts'

/** After so long an event that the operator has not answered for is deleted. */
const WAITING_MS = 30 * 24 * HOUR_MS
/** After so long an event is deleted whose maker got no answer, and whose edit code was not used since. */
const UNANSWERED_MS = 24 * HOUR_MS

/** So long the picture of a refused event is kept, because it can still be approved. */
const REFUSED_PICTURE_MS = 30 * 24 * HOUR_MS

/** What the operator decides. */
export interface OperatorAnswer {
  readonly approval: Exclude<Approval, 'waiting'>
  /** For the organiser. */
  readonly reason?: string | undefined
  /** Fewer tokens than the organiser wants. */
  readonly tokens?: number | undefined
  /** The `version` of the event that was read: the answer counts for no other one. */
  readonly content?: number | undefined
  /** Whether its organiser may give tokens to a list of addresses; as before where it is left out. */
  readonly mayGive?: boolean | undefined
}

/** What holds after an answer. */
export interface Answered {
  /** The approval of the event. */
  readonly approval: Approval
  /** What became of its waiting change; null where there was none. */
  readonly change: 'approved' | 'refused' | null
}

/** A part of the events that wait for the operator. */
export interface WaitingPage {
  /** How many wait in all. */
  readonly total: number
  readonly events: readonly WaitingEvent[]
  /** The number after which the next page begins; undefined where this is the last one. */
  readonly next: number | undefined
}

export interface ApprovalsOptions {
  readonly clock: Clock
  readonly db: Db
  readonly codeCounts: Pick<CodeCountCache, 'forget'>
}

/** The operator's answers to events that were made here. */
export class Approvals {
  private readonly options: ApprovalsOptions
  constructor(options: ApprovalsOptions) {
    this.options = options
  }

  /**
   * Answers for the change of an event that waits, or for the event itself where no change waits; an earlier answer can be
   * changed. An approval makes the waiting change live. A refused change leaves the event as it is. A refused event keeps the
   * tokens that it has, and those of claims that have a place already; its other places are closed until it is approved again.
   *
   * @throws {AppError} `event_not_found` for an event that was not made here; `content_changed` where it is not as it was read
   * any more; `invalid_parameter` for more tokens than its organiser wants, or fewer than were given out
   */
  async answer(event: Event, answer: OperatorAnswer): Promise<Answered> {
    const { db, clock, codeCounts } = this.options
    const answered = await inTransaction(db, (tx) => storeAnswer(tx, event.event_id, answer, clock.nowMs()))
    codeCounts.forget(event.event_id)
    return answered
  }

  /**
   * Events that wait for an answer, or with a change that does, the oldest first.
   *
   * @param page events with later numbers than `after`, and how many
   */
  async waiting({ after, limit }: { readonly after: number; readonly limit: number }): Promise<WaitingPage> {
    const { db, clock } = this.options
    const nowMs = clock.nowMs()
    const found = await waitingEvents(db, nowMs, { after, limit: limit + 1 })
    const events = found.slice(0, limit)
    const next = found.length > limit ? events.at(-1)!.event.event_id : undefined
    return { total: await countListed(db, nowMs), events, next }
  }

  /**
   * The organiser's picture, as a PNG, before the event is approved too: that of a change that waits, where it has one;
   * undefined where there is none.
   */
  async picture({ event_id: eventId }: Pick<Event, 'event_id'>): Promise<Buffer | undefined> {
    const { db } = this.options
    return (await findChangedImage(db, eventId)) ?? findAnyImage(db, eventId)
  }

  /** Deletes events that have waited for too long, those whose makers got no answer, and pictures of refused ones. */
  async deleteOld(): Promise<void> {
    const { db, clock } = this.options
    const nowMs = clock.nowMs()
    const before = { waitingBeforeMs: nowMs - WAITING_MS, unansweredBeforeMs: nowMs - UNANSWERED_MS }
    await deleteAbandoned(db, before)
    await deleteRefusedImages(db, nowMs - REFUSED_PICTURE_MS)
  }

  /** @throws {AppError} `event_not_found` */
  find(name: Parameters<typeof getEvent>[1]): Promise<Event> {
    return getEvent(this.options.db, name)
  }
}

async function storeAnswer(
  tx: Tx,
  eventId: number,
  { approval, reason: given = '', tokens, content, mayGive }: OperatorAnswer,
  nowMs: number,
): Promise<Answered> {
  const reason = readReason(given)
  const live = await lockContent(tx, eventId)
  if (!live) throw notMadeHere()
  if (content !== undefined && content !== live.version) throw contentChanged()
  if (mayGive !== undefined) await setMayGive(tx, eventId, mayGive)
  const waiting = await findWaitingChange(tx, eventId)
  if (approval === 'refused') {
    if (tokens !== undefined) throw invalidParameter('tokens', tokens, 'left out of a refusal')
    if (waiting) {
      await refuseChange(tx, eventId, reason)
      return { approval: live.approval, change: 'refused' }
    }
  } else {
    // The operator may have raised the live one since
    const wanted = Math.max(waiting?.supply ?? 0, live.supply)
    if (tokens !== undefined && tokens > wanted) throw aboveMaximum('tokens', tokens, wanted)
    const file = waiting?.has_image ? await findChangedImage(tx, eventId) : undefined
    const image = waiting && file ? { file, isDrawn: waiting.draws_image } : undefined
    await applyContent(tx, live, { change: { ...waiting, image, supply: tokens ?? wanted }, nowMs })
    await deleteChange(tx, eventId)
  }
  // From here on no further claim takes a place above the new number
  const taken = await setApproval(tx, eventId, { approval, reason, decided_at_ms: nowMs })
  if (tokens !== undefined && tokens < taken) throw tooFew(tokens, taken)
  await raiseVersion(tx, eventId)
  return { approval, change: waiting ? 'approved' : null }
}

function tooFew(tokens: number, taken: number): AppError {
  const allowed = `${taken} or more, because so many may be given out`
  return invalidParameter('tokens', tokens, allowed, { minimum: taken })
}

function contentChanged(): AppError {
  return new AppError(
    'content_changed',
    'The event was changed or answered since you read it. Read it again in /events/waiting, then answer.',
  )
}
