import { SECOND_MS } from '../../clock.ts'
import { PackedLogs } from '../packed-logs.ts'
import type { Spool } from './spool.ts'
import type { PackedRange } from './spool-frames.ts'

/** Blocks from which on a frame is written. */
const FRAME_BLOCKS = 2_000
/** Time after which a smaller one is written. */
const FRAME_MS = SECOND_MS

/**
 * Joins ranges that follow each other to frames of {@link FRAME_BLOCKS} blocks, or of one second: nodes that answer only ten
 * blocks at a time would make two million frames. A process that is killed loses one second of reading.
 *
 * @example
 * const frames = new FrameWriter(spool, steadyMs)
 * for await (const range of ranges) await frames.add(range)
 * await frames.flush()
 */
export class FrameWriter {
  private readonly spool: Pick<Spool, 'append'>
  private readonly steadyMs: () => number
  private ranges: PackedRange[] = []
  private writtenAtMs: number

  constructor(spool: Pick<Spool, 'append'>, steadyMs: () => number) {
    this.spool = spool
    this.steadyMs = steadyMs
    this.writtenAtMs = steadyMs()
  }

  /** @returns whether a frame was written */
  async add(range: PackedRange): Promise<boolean> {
    this.ranges.push(range)
    const blocks = range.last - this.ranges[0]!.first + 1
    if (blocks < FRAME_BLOCKS && this.steadyMs() - this.writtenAtMs < FRAME_MS) return false
    await this.flush()
    return true
  }

  /** Writes what was added. */
  async flush(): Promise<void> {
    const { ranges } = this
    const [first, last] = [ranges[0], ranges.at(-1)]
    this.ranges = []
    this.writtenAtMs = this.steadyMs()
    if (!first || !last) return
    const logs = PackedLogs.joined(ranges.map((range) => range.logs))
    await this.spool.append({ first: first.first, last: last.last, lastHash: last.lastHash, logs })
  }

  /** Forgets what was added and is not written yet. */
  discard(): void {
    this.ranges = []
  }
}
