import { BoundedCache } from '../../../../bounded-cache.ts'
import { MINUTE_MS } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import { findImage } from '../made-events/made-event-queries.ts'
import { PictureQueue, PictureThread } from '../pictures/picture-queue.ts'
import { getToken } from '../tokens/token-list-queries.ts'
import type { ShareTask } from './share-thread.ts'
import { bytesOf, pictureOf, type TokenPicture, uuidBytes } from './token-pictures.ts'

const MAX_BYTES = 16 * 1024 * 1024
/** How long a picture is cached. After the operator has refused an event, this server shows its picture for so long at most. */
const CACHED_MS = 10 * MINUTE_MS

/**
 * Pictures of links to tokens, those that were asked for last in memory. A thread draws them, one at a time; requests for the same
 * one wait for one drawing.
 */
export class SharePictures {
  private readonly db: Db
  private readonly queue = new PictureQueue()
  private readonly thread = new PictureThread(new URL('./share-thread.js', import.meta.url))
  private readonly ready = new BoundedCache<TokenPicture>(MAX_BYTES, CACHED_MS)
  private readonly drawing = new Map<string, Promise<TokenPicture>>()

  constructor(db: Db) {
    this.db = db
  }

  /**
   * @param id in lower case
   * @param beforeDrawing throws where the client has asked for too many
   * @throws {AppError} `token_not_found`, `too_many_requests`, `too_many_pictures`
   */
  async ofToken(id: string, beforeDrawing: () => Promise<void>): Promise<TokenPicture> {
    const ready = this.ready.get(id)
    if (ready) return ready
    await beforeDrawing()
    const drawing = this.drawing.get(id) ?? this.draw(id).finally(() => this.drawing.delete(id))
    this.drawing.set(id, drawing)
    return drawing
  }

  private async draw(id: string): Promise<TokenPicture> {
    const { eventId, eventUuid } = await getToken(this.db, id)
    const png = await findImage(this.db, eventId)
    const task: ShareTask = { eventId: uuidBytes(eventUuid), tokenId: uuidBytes(id), png }
    const picture = pictureOf(await this.queue.add(() => this.thread.make(task)))
    this.ready.set(id, picture, bytesOf(picture))
    return picture
  }
}
