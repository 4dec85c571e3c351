import { createHash } from 'node:crypto'
import { BoundedCache } from '../../../../bounded-cache.ts'
import { MINUTE_MS } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import { ownBytes } from '../../../../own-memory.ts'
import { findChangedImage } from '../made-events/content-queries.ts'
import { findAnyImage, findImage } from '../made-events/made-event-queries.ts'
import { assertOwnEvent } from '../own-event-ids.ts'
import { getToken } from '../tokens/token-list-queries.ts'
import { drawToken } from './token-image.ts'

/** The file of a picture, and the hash that clients know it by. */
export interface TokenPicture {
  readonly png: Buffer
  readonly tag: string
}

const MAX_BYTES = 16 * 1024 * 1024
/** For pictures of events that were drawn: about 100 of them. */
const MAX_DRAWN_BYTES = 4 * 1024 * 1024
/** For which event each token is of, that has the picture of its event: some 7,000 tokens. */
const MAX_TOKENS_BYTES = 4 * 1024 * 1024
/** Memory of a picture besides its file: that of its ready answer. */
const ANSWER_BYTES = 1024
/** Called before a picture is drawn, which takes some 30 ms. @throws {AppError} `too_many_requests` */
type BeforeDrawing = () => Promise<void>

/** How long a picture is cached. After the operator has refused an event, this server shows its picture for so long at most. */
const CACHED_MS = 10 * MINUTE_MS
const TAG_LENGTH = 22

/**
 * Pictures of events and tokens, those that were asked for last in memory. A token has the picture of its event: the
 * organiser's own one, or the map of its place. Without either, one is drawn from the ids.
 */
export class TokenPictures {
  private readonly db: Db
  /** Those of organisers and of places, by the number of the event. */
  private readonly ofEvents = new BoundedCache<TokenPicture>(MAX_BYTES, CACHED_MS)
  /** By token: the number of the event whose picture it has. */
  private readonly eventOfToken = new BoundedCache<number>(MAX_TOKENS_BYTES, CACHED_MS)
  /** By token: those that were drawn for it. */
  private readonly drawnOfTokens = new BoundedCache<TokenPicture>(MAX_BYTES, CACHED_MS)
  /** By UUID. They depend on it alone, so none becomes wrong. */
  private readonly drawnOfEvents = new BoundedCache<TokenPicture>(MAX_DRAWN_BYTES)

  constructor(db: Db) {
    this.db = db
  }

  /**
   * The picture of an event that was made here.
   *
   * @throws {AppError} `event_not_found` for another event, `too_many_requests`
   */
  async ofEvent(
    { event_id: eventId, uuid }: { readonly event_id: number; readonly uuid: string },
    beforeDrawing: BeforeDrawing,
  ): Promise<TokenPicture> {
    assertOwnEvent(eventId)
    const ready = (await this.storedOf(eventId)) ?? this.drawnOfEvents.get(uuid)
    if (ready) return ready
    await beforeDrawing()
    const id = uuidBytes(uuid)
    const drawn = this.drawnOfEvents.get(uuid) ?? pictureOf(drawToken(id, id))
    this.drawnOfEvents.set(uuid, drawn, bytesOf(drawn))
    return drawn
  }

  /** The picture of an event was changed. */
  forget({ event_id: eventId }: { readonly event_id: number }): void {
    this.ofEvents.delete(String(eventId))
  }

  /**
   * The organiser's picture of an event that waits, for the operator.
   *
   * @param ofChange the one of its waiting change, where that has one
   * @throws {AppError} `event_not_found`
   */
  async waitingOf(
    { event_id: eventId }: { readonly event_id: number },
    ofChange: boolean,
  ): Promise<TokenPicture | undefined> {
    assertOwnEvent(eventId)
    const changed = ofChange ? await findChangedImage(this.db, eventId) : undefined
    const png = changed ?? (await findAnyImage(this.db, eventId))
    return png && pictureOf(png)
  }

  /** The picture of a token, if it is in memory. @param id in lower case */
  cached(id: string): TokenPicture | undefined {
    const eventId = this.eventOfToken.get(id)
    return eventId === undefined ? this.drawnOfTokens.get(id) : this.ofEvents.get(String(eventId))
  }

  /** @param id in lower case @throws {AppError} `token_not_found`, `too_many_requests` */
  async ofToken(id: string, beforeDrawing: BeforeDrawing): Promise<TokenPicture> {
    const cached = this.cached(id)
    if (cached) return cached
    const { eventId, eventUuid } = await getToken(this.db, id)
    const stored = await this.storedOf(eventId)
    if (stored) {
      this.eventOfToken.set(id, eventId, 0)
      return stored
    }
    await beforeDrawing()
    const picture = this.drawnOfTokens.get(id) ?? pictureOf(drawToken(uuidBytes(eventUuid), uuidBytes(id)))
    this.drawnOfTokens.set(id, picture, bytesOf(picture))
    return picture
  }

  /** Undefined where the event has none, or is not approved. */
  private async storedOf(eventId: number): Promise<TokenPicture | undefined> {
    const cached = this.ofEvents.get(String(eventId))
    if (cached) return cached
    const png = await findImage(this.db, eventId)
    if (!png) return undefined
    const picture = pictureOf(png)
    this.ofEvents.set(String(eventId), picture, bytesOf(picture))
    return picture
  }
}

export function pictureOf(file: Buffer): TokenPicture {
  const png = ownBytes(file)
  return { png, tag: createHash('sha256').update(png).digest('base64url').slice(0, TAG_LENGTH) }
}

/** What a cache counts for a picture. */
export function bytesOf({ png }: TokenPicture): number {
  return png.length + ANSWER_BYTES
}

export function uuidBytes(uuid: string): Uint8Array {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}
