import type { Coord } from '@landpass/client/grid'
import type { Clock } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import type { Approval } from '../../../../db/schema.ts'
import { inTransaction } from '../../../../db/transaction.ts'
import { AppError } from '../../../../errors.ts'
import { findWaitingChange, type StoredChange } from '../../../events/change-queries.ts'
import type { CodeCountCache } from '../../../events/code-count-cache.ts'
import { coordinatesText, readCoordinates } from '../../../events/coordinates.ts'
import { fewerTokens, type MadeEventChange } from '../../../events/event-options.ts'
import type { Event } from '../../../events/event-queries.ts'
import { endOfLastDayMs } from '../../poap/issuer-dates.ts'
import type { TokenKeys } from '../keys/token-keys.ts'
import { assertOwnEvent, notMadeHere } from '../own-event-ids.ts'
import { PictureReader } from '../pictures/picture-reader.ts'
import { applyContent, type LiveEvent, lockContent, type Picture, storeChange } from './content-queries.ts'
import { hashOfEditCode, newEditCode } from './edit-code.ts'
import { assertDescription, pictureMissing } from './event-texts.ts'
import {
  type EventToMake,
  findMadeEvent,
  insertMadeEvent,
  moveEvent,
  setHidesHolders,
} from './made-event-queries.ts'
import { countWaiting, deleteUnused, inWaitingTransaction } from './waiting-event-queries.ts'

/** `retry_after_s` of the refusal while too many events wait for the operator. */
const RETRY_AFTER_S = 3_600

export interface EventMakerOptions {
  readonly db: Db
  readonly clock: Clock
  readonly keys: Pick<TokenKeys, 'current'>
  readonly codeCounts: Pick<CodeCountCache, 'forget'>
  readonly who: 'anyone' | 'approved' | 'operator' | 'nobody'
  /** Events that may wait for the operator. */
  readonly maxWaiting: number
  /** A square picture of places, as a PNG file; undefined while there is no map of them. */
  readonly drawPlaces: (places: readonly Coord[]) => Buffer | undefined
}

/** An event as its organiser describes it. The form of all fields has been checked. */
export interface EventDescription {
  readonly name: string
  readonly description: string
  readonly eventUrl: string
  readonly places: readonly Coord[]
  /** Days as `YYYY-MM-DD`. */
  readonly startDate: string
  readonly endDate: string
  /** From when on tokens can be claimed. */
  readonly startAtMs: number
  /** Until when at the latest; the end of the last day anywhere on Earth ends it too. */
  readonly endAtMs: number | undefined
  /** The IANA name of a zone. */
  readonly timeZone: string | undefined
  readonly tokens: number
  readonly requiresCaptcha: boolean
  readonly requiresPresence: boolean
  readonly hidesHolders: boolean
  /** The file of the organiser's own picture; undefined: one is drawn from the map. */
  readonly picture: Buffer | undefined
}

/** Who makes an event. */
export interface MakingRequest {
  readonly isOperator: boolean
  /** Is called once, before a picture is decoded and the event is stored: throws where its maker has made too many. */
  readonly assertMayMake: (approval: Approval) => Promise<void>
}

/** Who changes an event. */
export interface ChangingRequest {
  readonly isOperator: boolean
  /** Is called before a picture is decoded or drawn: throws where too many are. */
  readonly mayDecode?: () => Promise<void>
}

interface PlacesChange {
  readonly before: StoredChange | undefined
  readonly coordinates: string | undefined
  readonly isWanted: boolean
}

export interface MadeEventAnswer {
  readonly event: Event
  /** For the organiser: it is not stored, and never shown again. */
  readonly editCode: string
  readonly approval: Approval
}

/** Makes events of our own issuer. */
export class EventMaker {
  private readonly options: EventMakerOptions
  private readonly pictures = new PictureReader()
  constructor(options: EventMakerOptions) {
    this.options = options
  }

  /**
   * Makes an event with an edit code. Its tokens can be claimed at once, or when the operator has approved it: an event
   * that waits has no places, like one that the other issuer has not approved.
   *
   * @throws {PictureError} for a picture that is none, too large, or damaged
   * @throws {AppError} `event_making_disabled`; `operator_only` where the operator alone makes events; `attendance_not_configured` where no key signs;
   * `too_many_pictures`; `too_many_requests` where too many events wait for the operator
   */
  async make(description: EventDescription, request: MakingRequest): Promise<MadeEventAnswer> {
    const { isOperator, assertMayMake } = request
    const { db, clock, keys, who, drawPlaces } = this.options
    if (who === 'nobody') throw makingDisabled()
    if (who === 'operator' && !isOperator) throw operatorOnly()
    await keys.current()
    const approval: Approval = who === 'approved' && !isOperator ? 'waiting' : 'approved'
    if (approval === 'waiting') await this.assertRoom(db)
    const { picture, places } = description
    const mayMake = () => assertMayMake(approval)
    const file = picture
      ? await this.pictures.read(picture, mayMake)
      : await mayMake().then(() => drawPlaces(places))
    const nowMs = clock.nowMs()
    const editCode = newEditCode()
    const event = await this.insert({
      record: (eventId) => recordOf(eventId, description),
      coordinates: coordinatesText(places),
      image: file && { file, isDrawn: picture === undefined },
      requiresCaptcha: description.requiresCaptcha,
      requiresPresence: description.requiresPresence,
      startAtMs: description.startAtMs,
      endAtMs: description.endAtMs ?? null,
      timeZone: description.timeZone ?? null,
      expiresAtMs: endOfLastDayMs(description.endDate)!,
      editCodeHash: hashOfEditCode(editCode),
      supply: description.tokens,
      approval,
      hidesHolders: description.hidesHolders,
      nowMs,
    })
    // The event exists now, and nothing but this answer has its edit code: AnsweredEvents notes that it was sent
    return { event, editCode, approval }
  }

  /**
   * Changes an event. Where the operator approves events, a change of what the operator has read waits for the operator too,
   * and the event stays as it is until then; a change of the operator does not wait.
   *
   * @throws {AppError} `event_not_found` for an event that was not made here, `invalid_parameter` for its description, and for
   * fewer tokens than it has: they may be given out. Then nothing is changed
   */
  async change(
    event: Event,
    change: MadeEventChange,
    { isOperator, mayDecode = async () => {} }: ChangingRequest,
  ): Promise<void> {
    const { db, clock, codeCounts, who } = this.options
    const { event_id: eventId } = event
    if (Object.values(change).every((value) => value === undefined)) return
    const { hidesHolders, tokens: supply, move, timeZone, isCancelled, picture, eventUrl, ...texts } = change
    if (texts.description !== undefined) assertDescription(texts.description)
    assertOwnEvent(eventId)
    if (picture === 'drawn') await mayDecode()
    const own = picture instanceof Buffer ? await this.pictures.read(picture, mayDecode) : undefined
    await inTransaction(db, async (tx) => {
      const live = await lockContent(tx, eventId)
      if (!live) throw notMadeHere()
      if (supply !== undefined && supply < live.supply) throw fewerTokens(supply, live.supply)
      if (hidesHolders !== undefined) await setHidesHolders(tx, eventId, hidesHolders)
      const nowMs = clock.nowMs()
      // Days and times are no content: they change at once
      const moved = move?.(live.event)
      const record = { ...live.record, ...(moved && daysOf(moved)) }
      if ([moved, timeZone, isCancelled].some((value) => value !== undefined))
        await moveEvent(tx, eventId, { record, move: moved, timeZone, isCancelled, nowMs })
      const waits = who !== 'anyone' && !isOperator && live.approval !== 'waiting'
      const before = waits ? await findWaitingChange(tx, eventId) : undefined
      const image = own
        ? { file: own, isDrawn: false }
        : this.drawn(live, { before, coordinates: texts.coordinates, isWanted: picture === 'drawn' })
      const changed = { change: { ...texts, supply, image, event_url: eventUrl }, nowMs }
      await (waits ? storeChange : applyContent)(tx, { ...live, record }, changed)
    })
    codeCounts.forget(eventId)
  }

  /**
   * Deletes an event that has no tokens, and no claims that could become some.
   *
   * @throws {AppError} `event_has_tokens`
   */
  async delete({ event_id: eventId }: Event): Promise<void> {
    assertOwnEvent(eventId)
    await inTransaction(this.options.db, async (tx) => {
      if (!(await deleteUnused(tx, eventId))) throw eventHasTokens()
    })
  }

  /**
   * The map of the places that become true with a change, where the picture of the event is that map and other places are
   * sent, or where it is wanted.
   *
   * @param change `before`: the one that waits; `coordinates`: the places that are sent
   * @throws {AppError} `invalid_parameter` where it is wanted and there is no map
   */
  private drawn(live: LiveEvent, { before, coordinates, isWanted }: PlacesChange): Picture | undefined {
    const placesBefore = before?.coordinates ?? live.coordinates
    const places = coordinates ?? placesBefore
    const { draws_image: isMap } = before?.has_image ? before : live
    if (!isWanted && (!isMap || places === placesBefore)) return undefined
    const file = this.options.drawPlaces(readCoordinates(places))
    if (!file && isWanted) throw pictureMissing()
    return file && { file, isDrawn: true }
  }

  /** @throws {AppError} `too_many_requests` where too many events wait by now */
  private insert(event: EventToMake): Promise<Event> {
    const { db } = this.options
    if (event.approval !== 'waiting') return inTransaction(db, (tx) => insertMadeEvent(tx, event))
    return inWaitingTransaction(db, async (tx) => {
      await this.assertRoom(tx)
      return insertMadeEvent(tx, event)
    })
  }

  /** @throws {AppError} `too_many_requests` where too many events wait */
  private async assertRoom(db: Db): Promise<void> {
    const { maxWaiting, clock } = this.options
    if ((await countWaiting(db, clock.nowMs())) >= maxWaiting) throw tooManyWaiting(maxWaiting)
  }

  /** Whether lists of the holders of an event are public. */
  async showsHolders(eventId: number): Promise<boolean> {
    const made = await findMadeEvent(this.options.db, eventId)
    return made !== undefined && !made.hides_holders
  }
}

/** The record has the fields of the other issuer's, because clients read them. */
function recordOf(eventId: number, { name, description, eventUrl, ...days }: EventDescription) {
  return {
    id: eventId,
    fancy_id: `event-${eventId}`,
    name,
    description,
    event_url: eventUrl,
    country: '',
    city: '',
    ...daysOf(days),
    from_admin: false,
    virtual_event: true,
    event_template_id: 0,
    event_host_id: 0,
    private_event: false,
  }
}

function daysOf({ startDate, endDate }: Pick<EventDescription, 'startDate' | 'endDate'>) {
  const year = Number(startDate.slice(0, 4))
  return { year, start_date: startDate, end_date: endDate, expiry_date: endDate }
}

function eventHasTokens(): AppError {
  return new AppError(
    'event_has_tokens',
    'Players have claimed tokens of this event, so it cannot be deleted. Cancel it: then it gives out no more.',
  )
}

function tooManyWaiting(count: number): AppError {
  return new AppError(
    'too_many_requests',
    `${count} events wait for the operator of this server, and no more may. Ask the operator, or try again tomorrow.`,
    { retry_after_s: RETRY_AFTER_S, limit: 'waiting_events' },
  )
}

function makingDisabled(): AppError {
  return new AppError(
    'event_making_disabled',
    'No events are made on this server: its operator has set EVENT_MAKERS to nobody.',
  )
}

function operatorOnly(): AppError {
  return new AppError(
    'operator_only',
    'Only the operator of this server makes events here: the header Operator-Key is missing or wrong.',
  )
}
