/** The images that were asked for last, by the uuid of their captcha. Knows nothing of use and expiry. */
export class ImageCache {
  private readonly images = new Map<string, Buffer>()
  private readonly maxImages: number

  constructor(maxImages: number) {
    this.maxImages = maxImages
  }

  /** Draws what is not there. */
  get(uuid: string, draw: () => Buffer): Buffer {
    const image = this.images.get(uuid) ?? draw()
    // A map is read in the order of insertion: what is used goes to its end, what is at its beginning goes first.
    this.images.delete(uuid)
    this.images.set(uuid, image)
    if (this.images.size > this.maxImages) this.images.delete(this.images.keys().next().value!)
    return image
  }

  get size(): number {
    return this.images.size
  }
}
