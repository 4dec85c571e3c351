import { changedAssets, type ReadChanges } from '../../state/differences/changed-assets.ts'
import { changedNames } from '../../state/differences/changed-names.ts'
import {
  type StateAt,
  type StateVersion,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import { PromiseCache } from '../common/promise-cache.ts'
import { eventText } from './event-text.ts'

/** Beyond so many names an event says that everything may be another: 10 kB are enough for one. */
export const MAX_NAMES = 1_000
/** After a restart nearly all readers come back with one of the last few states. */
const KEPT_EVENTS = 32

/** The events that lead from one state to another, each made once for all who need it. At most 400 kB are kept. */
export class ChangeEvents {
  private readonly readChanges: ReadChanges
  private readonly events = new PromiseCache<Buffer>(KEPT_EVENTS)
  private madeCount = 0

  constructor(readChanges: ReadChanges) {
    this.readChanges = readChanges
  }

  /** How many were made. */
  get made(): number {
    return this.madeCount
  }

  /** One event that sums up what leads from an earlier state to now: a `change`, or a `reset` where nobody knows. */
  between(since: StateVersion, now: StateAt): Promise<Buffer> {
    const name = `${versionText(since)} ${versionText(versionOf(now))}`
    return this.events.get(name, () => this.make(since, now))
  }

  private async make(since: StateVersion, now: StateAt): Promise<Buffer> {
    const assets = await changedAssets(this.readChanges, since, now)
    const names = assets && changedNames(now, since, assets)
    this.madeCount++
    if (!names || names.parcels.length + names.estates.length > MAX_NAMES) {
      return Buffer.from(eventText('reset', now))
    }
    return Buffer.from(eventText('change', now, names))
  }
}
