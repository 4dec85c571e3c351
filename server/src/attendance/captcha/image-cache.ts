import { LRUCache } from 'lru-cache'

/** The images that were asked for last, by the uuid of their captcha. Knows nothing of use and expiry. */
export class ImageCache {
  private readonly images: LRUCache<string, Buffer>

  constructor(maxImages: number) {
    this.images = new LRUCache({ max: maxImages })
  }

  /** Draws what is not there. */
  get(uuid: string, draw: () => Buffer): Buffer {
    const image = this.images.get(uuid) ?? draw()
    this.images.set(uuid, image)
    return image
  }

  get size(): number {
    return this.images.size
  }
}
