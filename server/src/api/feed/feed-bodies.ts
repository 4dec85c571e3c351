import { CompressedBodies, type SmallBody } from '../../http/compressed-bodies.ts'
import { changedAssets, type ReadChanges } from '../../state/differences/changed-assets.ts'
import { changedCells } from '../../state/differences/changed-cells.ts'
import {
  type StateAt,
  type StateVersion,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import { DifferenceCache } from '../common/difference-cache.ts'
import { writeFeed } from './feed-writer.ts'

/** Nearly all clients request the differences from one of the last few states. */
const MAX_CACHED_CHANGES = 8
const MAX_CACHED_CHANGES_BYTES = 4 * 1024 * 1024
/** If a larger part of all cells has changed, the whole world is sent. */
const MAX_CHANGED_PART = 1 / 8

/** A cache of the feed's bodies, each made once for all clients. A whole world takes 1 MB in all encodings. */
export class FeedBodies {
  private readonly bodies: CompressedBodies
  /** Separate caches, because clients can invent states, and must not evict what other clients need. */
  private readonly recentBodies = new CompressedBodies(MAX_CACHED_CHANGES_BYTES, MAX_CACHED_CHANGES)
  private readonly otherBodies = new CompressedBodies(MAX_CACHED_CHANGES_BYTES, MAX_CACHED_CHANGES)
  private readonly readChanges: ReadChanges
  /** The cells that changed between two states, at most 50 kB each. */
  private readonly changes = new DifferenceCache<Uint32Array | undefined>(MAX_CACHED_CHANGES)

  constructor(bodies: CompressedBodies, readChanges: ReadChanges) {
    this.bodies = bodies
    this.readChanges = readChanges
  }

  /** The whole world as it is now. */
  world(now: StateAt): SmallBody {
    this.changes.note(now)
    return this.bodies.small('feed', versionText(versionOf(now)), () => writeFeed(now))
  }

  /** The differences from a state; the whole world if they are not known or too many. */
  async changesSince(since: StateVersion, now: StateAt): Promise<SmallBody> {
    const from = versionText(since)
    const to = versionText(versionOf(now))
    const cells = await this.changes.get(since, now, () => this.findChanges(since, now))
    if (!cells) return this.world(now)
    const bodies = this.changes.isRecent(since) ? this.recentBodies : this.otherBodies
    return bodies.small(`feed since ${from}`, to, () => writeFeed(now, { since, cells }))
  }

  private async findChanges(since: StateVersion, now: StateAt): Promise<Uint32Array | undefined> {
    const assets = await changedAssets(this.readChanges, since, now)
    const cells = assets && changedCells(now, since, assets)
    if (!cells || cells.length > now.state.parts.cells.length * MAX_CHANGED_PART) return undefined
    return cells
  }
}
