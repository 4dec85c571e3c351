import { LRUCache } from 'lru-cache'

/** Caches the most recently requested images by the uuid of their captcha. The caller checks that it is not used or expired. */
export class ImageCache {
  private readonly images: LRUCache<string, Buffer>

  constructor(maxImages: number) {
    this.images = new LRUCache({ max: maxImages })
  }

  /** The cached image, or a new one from `draw`. */
  get(uuid: string, draw: () => Buffer): Buffer {
    const image = this.images.get(uuid) ?? draw()
    this.images.set(uuid, image)
    return image
  }

  get size(): number {
    return this.images.size
  }
}
