import { CompressedBodies, type SmallBody } from '../../http/compressed-bodies.ts'
import { changedAssets, type ReadChanges } from '../../state/differences/changed-assets.ts'
import { changedCells } from '../../state/differences/changed-cells.ts'
import {
  type StateAt,
  type StateVersion,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import { PromiseCache } from '../common/promise-cache.ts'
import { writeFeed } from './feed-writer.ts'

/** Nearly all clients ask what changed since one of the last few states. */
const KEPT_CHANGES = 8
const KEPT_CHANGES_BYTES = 4 * 1024 * 1024
/** Beyond this part of all cells the whole world is the better answer. */
const MOST_CHANGED = 1 / 8

/** The feed's bodies, each made once for all who ask for it: a whole world is a megabyte in all codings. */
export class FeedBodies {
  private readonly bodies: CompressedBodies
  /** Apart from the others: anybody can name a state, and must not push out bodies that are expensive to make. */
  private readonly changeBodies = new CompressedBodies(KEPT_CHANGES_BYTES, KEPT_CHANGES)
  private readonly readChanges: ReadChanges
  /** The cells that changed between two states, at most 50 kB each. */
  private readonly changes = new PromiseCache<Uint32Array | undefined>(KEPT_CHANGES)

  constructor(bodies: CompressedBodies, readChanges: ReadChanges) {
    this.bodies = bodies
    this.readChanges = readChanges
  }

  /** The whole world as it is now. */
  world(now: StateAt): SmallBody {
    return this.bodies.small('feed', versionText(versionOf(now)), () => writeFeed(now))
  }

  /** What changed after a state; the whole world where that is not known, or nearly everything. */
  async changesSince(since: StateVersion, now: StateAt): Promise<SmallBody> {
    const from = versionText(since)
    const to = versionText(versionOf(now))
    const cells = await this.changes.get(`${from} ${to}`, () => this.findChanges(since, now))
    if (!cells) return this.world(now)
    return this.changeBodies.small(`feed since ${from}`, to, () => writeFeed(now, { since, cells }))
  }

  private async findChanges(since: StateVersion, now: StateAt): Promise<Uint32Array | undefined> {
    const assets = await changedAssets(this.readChanges, since, now)
    const cells = assets && changedCells(now, since, assets)
    if (!cells || cells.length > now.state.parts.cells.length * MOST_CHANGED) return undefined
    return cells
  }
}
