import { hash } from 'node:crypto'
import { reusedBytes } from '../image/reused-memory.ts'
import { KIND_MASK } from '../state/parts/tile-cells.ts'
import type { MapState } from './map-state.ts'
import { INKS } from './palette.ts'
import { MIN_SIZE_WITH_GAPS_PX, type View } from './view.ts'
import { MOST_CELLS } from './window.ts'

const DIGEST_LENGTH = 20

const SHOWN = reusedBytes(MOST_CELLS)

/**
 * A short text of the land that a view shows: equal for two states in which a view looks the same, so that a copy of the image
 * can be confirmed without drawing it.
 */
export function landDigest({ bounds, cells, rowAt, offers }: MapState, view: View): string {
  const { widthPx, heightPx, sizePx, originXPx, originYPx } = view
  const height = bounds.maxY - bounds.minY + 1
  // A parcel more on each side: edges may be rounded, and parcels may share a pixel.
  const margin = 1 + Math.ceil(1 / sizePx)
  const fromX = Math.max(bounds.minX, Math.floor(-originXPx / sizePx) - margin)
  const toX = Math.min(bounds.maxX, Math.floor((widthPx - originXPx) / sizePx) + margin)
  const maxY = Math.min(bounds.maxY, Math.ceil(originYPx / sizePx) + margin)
  const minY = Math.max(bounds.minY, Math.ceil((originYPx - heightPx) / sizePx) - margin)
  const columns = Math.max(0, toX - fromX + 1)
  const rows = Math.max(0, maxY - minY + 1)
  const shown = SHOWN.take(columns * rows)
  // Smaller parcels are drawn without the gaps by which joins are seen.
  const seen = sizePx < MIN_SIZE_WITH_GAPS_PX ? KIND_MASK : 0xff
  let to = 0
  for (let x = fromX; x <= toX; x++) {
    let from = (x - bounds.minX) * height + bounds.maxY - maxY
    for (let i = 0; i < rows; i++, from++) {
      const row = offers ? rowAt[from]! : -1
      const kind = row >= 0 && offers![row]! >= 0 ? INKS.onSale : cells[from]! & KIND_MASK
      shown[to++] = (cells[from]! & seen & ~KIND_MASK) | kind
    }
  }
  return `${fromX},${minY},${toX},${maxY}:${digestOf(shown)}`
}

/** A hash of characters that an ETag may have. */
export function digestOf(value: string | Uint8Array): string {
  return hash('sha1', value, 'base64url').slice(0, DIGEST_LENGTH)
}
