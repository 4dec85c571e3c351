import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { MINUTE_MS, SECOND_MS } from '../../../clock.ts'
import type { Db } from '../../../db/engine.ts'
import { assertOwnEvent } from '../../issuer/own-event-ids.ts'
import { findAnyImage, findImage } from '../made-events/made-event-queries.ts'
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
/** Memory of an entry besides its picture; tokens of an event share one. */
const ENTRY_BYTES = 512
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
  private readonly ofEvents = new LRUCache<number, TokenPicture>({
    maxSize: MAX_BYTES,
    ttl: CACHED_MS,
    ttlResolution: SECOND_MS, // by default a timer runs each millisecond
    sizeCalculation: ({ png }) => png.length + ENTRY_BYTES,
  })
  private readonly ofTokens = new LRUCache<string, TokenPicture>({
    maxSize: MAX_BYTES,
    ttl: CACHED_MS,
    ttlResolution: SECOND_MS, // by default a timer runs each millisecond
    sizeCalculation: (picture) => ENTRY_BYTES + (this.isShared(picture) ? 0 : picture.png.length),
  })
  private readonly shared = new WeakSet<TokenPicture>()
  /** By UUID. They depend on it alone, so none becomes wrong. */
  private readonly drawnOfEvents = new LRUCache<string, TokenPicture>({
    maxSize: MAX_DRAWN_BYTES,
    sizeCalculation: ({ png }) => png.length + ENTRY_BYTES,
  })

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
    this.drawnOfEvents.set(uuid, drawn)
    return drawn
  }

  /** The organiser's picture of an event that waits, for the operator. @throws {AppError} `event_not_found` */
  async waitingOf({ event_id: eventId }: { readonly event_id: number }): Promise<TokenPicture | undefined> {
    assertOwnEvent(eventId)
    const png = await findAnyImage(this.db, eventId)
    return png && pictureOf(png)
  }

  /** The picture of a token, if it is in memory. @param id in lower case */
  cached(id: string): TokenPicture | undefined {
    return this.ofTokens.get(id)
  }

  /** @param id in lower case @throws {AppError} `token_not_found`, `too_many_requests` */
  async ofToken(id: string, beforeDrawing: BeforeDrawing): Promise<TokenPicture> {
    const cached = this.ofTokens.get(id)
    if (cached) return cached
    const { eventId, eventUuid } = await getToken(this.db, id)
    const stored = await this.storedOf(eventId)
    if (!stored) await beforeDrawing()
    const picture =
      stored ?? this.ofTokens.get(id) ?? pictureOf(drawToken(uuidBytes(eventUuid), uuidBytes(id)))
    this.ofTokens.set(id, picture)
    return picture
  }

  /** Undefined where the event has none, or is not approved. */
  private async storedOf(eventId: number): Promise<TokenPicture | undefined> {
    const cached = this.ofEvents.get(eventId)
    if (cached) return cached
    const png = await findImage(this.db, eventId)
    if (!png) return undefined
    const picture = pictureOf(png)
    this.shared.add(picture)
    this.ofEvents.set(eventId, picture)
    return picture
  }

  private isShared(picture: TokenPicture): boolean {
    return this.shared.has(picture)
  }
}

export function pictureOf(png: Buffer): TokenPicture {
  return { png, tag: createHash('sha256').update(png).digest('base64url').slice(0, TAG_LENGTH) }
}

export function uuidBytes(uuid: string): Uint8Array {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex')
}
