import { CodedBody } from '../../http/coded-body.ts'
import { changedAssets, type ReadChanges } from '../../state/differences/changed-assets.ts'
import { changedCells } from '../../state/differences/changed-cells.ts'
import {
  type StateAt,
  type StateVersion,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import { Kept } from '../common/kept.ts'
import { writeFeed } from './feed-writer.ts'

/** The newest state, and one more for the readers of the moment in which another takes its place. */
const KEPT_WORLDS = 2
/** Nearly all readers ask what changed since one of the last few states. */
const KEPT_CHANGES = 8
/** Beyond this part of all cells the whole world is the better answer. */
const MOST_CHANGED = 1 / 8

/**
 * The feed's bodies, each made once for all who ask for it. Kept: two whole worlds (a megabyte each, in all
 * codings) and eight parts that tell changes (hardly ever more than a few kB, at most 300 kB).
 */
export class FeedBodies {
  private readonly readChanges: ReadChanges
  private readonly worlds = new Kept<CodedBody>(KEPT_WORLDS)
  private readonly changes = new Kept<Promise<CodedBody | undefined>>(KEPT_CHANGES)

  constructor(readChanges: ReadChanges) {
    this.readChanges = readChanges
  }

  /** The whole world at a moment. */
  world(moment: StateAt): CodedBody {
    return this.worlds.get(versionText(versionOf(moment)), () => new CodedBody(writeFeed(moment)))
  }

  /** What changed after a state; the whole world where that is not known, or nearly everything. */
  async changesSince(since: StateVersion, moment: StateAt): Promise<CodedBody> {
    const name = `${versionText(since)} ${versionText(versionOf(moment))}`
    const making = this.changes.get(name, () => this.makeChanges(since, moment))
    try {
      return (await making) ?? this.world(moment)
    } catch (error) {
      this.changes.drop(name)
      throw error
    }
  }

  private async makeChanges(since: StateVersion, moment: StateAt): Promise<CodedBody | undefined> {
    const assets = await changedAssets(this.readChanges, since, moment)
    if (!assets) return undefined
    const cells = changedCells(moment, since, assets)
    if (cells.length > moment.state.parts.cells.length * MOST_CHANGED) return undefined
    return new CodedBody(writeFeed(moment, { since, cells }))
  }
}
