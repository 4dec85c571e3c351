import { between, panned, type ScreenSize, type Spot, zoomedAbout } from './camera.ts'
import type { View } from './map-types.ts'

/**
 * Motions of the map. A motion is data; {@link moved} computes the view of the next frame.
 *
 * - `flight`: to a view, in a given time
 * - `glide`: on after a push, slower and slower
 * - `approach`: to a zoom about a spot, which every turn of a wheel sets further
 */
export type Motion =
  | { readonly kind: 'flight'; readonly from: View; readonly to: View; readonly startMs: number }
  | { readonly kind: 'glide'; readonly rightPxPerMs: number; readonly downPxPerMs: number }
  | { readonly kind: 'approach'; readonly spot: Spot; readonly zoom: number }

export const FLIGHT_MS = 360
/** A glide loses all but 1/e of its speed in this time. */
const GLIDE_FADING_MS = 320
const SLOWEST_PX_PER_MS = 0.02
/** All but 1/e of the way to a zoom is done in this time. */
const APPROACH_MS = 55
/** An approach ends when its zoom is within this ratio of its target. */
const NEAR = 0.002

export interface FrameTime {
  readonly nowMs: number
  /** Since the frame before. */
  readonly passedMs: number
}

/** The view of the next frame, and the rest of the motion: undefined when it is over. */
export function moved(
  motion: Motion,
  view: View,
  size: ScreenSize,
  { nowMs, passedMs }: FrameTime,
): { readonly view: View; readonly motion: Motion | undefined } {
  if (motion.kind === 'flight') {
    const t = Math.min(1, Math.max(0, (nowMs - motion.startMs) / FLIGHT_MS))
    if (t === 1) return { view: motion.to, motion: undefined }
    return { view: between(motion.from, motion.to, easedOut(t)), motion }
  }
  if (motion.kind === 'glide') {
    const { rightPxPerMs, downPxPerMs } = motion
    const left = Math.exp(-passedMs / GLIDE_FADING_MS)
    const next = { ...motion, rightPxPerMs: rightPxPerMs * left, downPxPerMs: downPxPerMs * left }
    const isOver = Math.hypot(next.rightPxPerMs, next.downPxPerMs) < SLOWEST_PX_PER_MS
    const pushed = panned(view, rightPxPerMs * passedMs, downPxPerMs * passedMs)
    return { view: pushed, motion: isOver ? undefined : next }
  }
  const left = Math.exp(-passedMs / APPROACH_MS)
  const zoom = motion.zoom * (view.zoom / motion.zoom) ** left
  const isThere = Math.abs(zoom / motion.zoom - 1) < NEAR
  const next = zoomedAbout(view, size, motion.spot, isThere ? motion.zoom : zoom)
  return { view: next, motion: isThere ? undefined : motion }
}

function easedOut(t: number): number {
  return 1 - (1 - t) ** 3
}
