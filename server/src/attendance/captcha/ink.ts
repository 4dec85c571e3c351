import type { Point, Trace } from './trace.ts'

/** How much of each pixel is covered with ink: 0 to 1, rows from the top. Where lines cross, the larger value counts. */
export class Ink {
  readonly cover: Float32Array
  private readonly widthPx: number
  private readonly heightPx: number

  constructor(widthPx: number, heightPx: number) {
    this.widthPx = widthPx
    this.heightPx = heightPx
    this.cover = new Float32Array(widthPx * heightPx)
  }

  draw({ points, radiiPx }: Trace): void {
    for (let i = 1; i < points.length; i++) {
      this.drawSegment(points[i - 1]!, points[i]!, radiiPx[i - 1]!, radiiPx[i]!)
    }
  }

  /** Covers all pixels within the radius of a line segment; pixels at the edge are covered in part. */
  private drawSegment(from: Point, to: Point, fromRadius: number, toRadius: number): void {
    const { widthPx, heightPx, cover } = this
    const reach = Math.max(fromRadius, toRadius) + 1
    const left = Math.max(0, Math.floor(Math.min(from.x, to.x) - reach))
    const right = Math.min(widthPx - 1, Math.ceil(Math.max(from.x, to.x) + reach))
    const top = Math.max(0, Math.floor(Math.min(from.y, to.y) - reach))
    const bottom = Math.min(heightPx - 1, Math.ceil(Math.max(from.y, to.y) + reach))
    const dx = to.x - from.x
    const dy = to.y - from.y
    const perLength = 1 / Math.max(dx * dx + dy * dy, 1e-6)
    for (let y = top; y <= bottom; y++) {
      for (let x = left; x <= right; x++) {
        const along = ((x - from.x) * dx + (y - from.y) * dy) * perLength
        const part = along < 0 ? 0 : along > 1 ? 1 : along
        const offX = x - from.x - part * dx
        const offY = y - from.y - part * dy
        const radius = fromRadius + part * (toRadius - fromRadius)
        const covered = radius + 0.5 - Math.sqrt(offX * offX + offY * offY)
        const at = y * widthPx + x
        if (covered > cover[at]!) cover[at] = covered > 1 ? 1 : covered
      }
    }
  }
}
