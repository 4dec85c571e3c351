import { changedAssets, type ReadChanges } from '../../state/differences/changed-assets.ts'
import { changedNames } from '../../state/differences/changed-names.ts'
import type { StateAt, StateVersion } from '../../state/differences/state-version.ts'
import { DifferenceCache } from '../common/difference-cache.ts'
import { eventText } from './event-text.ts'

/** An event with more names (about 10 kB) is sent as `reset` instead. */
export const MAX_NAMES = 1_000
/** After a restart nearly all clients reconnect with one of the last few states. */
const MAX_CACHED_EVENTS = 32

/** A cache of events that lead from one state to another, each made once for all clients. Holds at most 800 kB. */
export class ChangeEvents {
  private readonly readChanges: ReadChanges
  private readonly events = new DifferenceCache<Buffer>(MAX_CACHED_EVENTS)
  private madeCount = 0

  constructor(readChanges: ReadChanges) {
    this.readChanges = readChanges
  }

  /** Number of events that were made. */
  get made(): number {
    return this.madeCount
  }

  /** One event for all differences between an earlier state and now: `change`, or `reset` if they are not known. */
  between(since: StateVersion, now: StateAt): Promise<Buffer> {
    return this.events.get(since, now, () => this.make(since, now))
  }

  /** Call it with each state that becomes the current one: events that lead on from it are kept longer. */
  note(now: StateAt): void {
    this.events.note(now)
  }

  private async make(since: StateVersion, now: StateAt): Promise<Buffer> {
    const assets = await changedAssets(this.readChanges, since, now)
    const names = assets && changedNames(now, since, assets)
    this.madeCount++
    if (!names || names.parcels.length + names.estates.length > MAX_NAMES) {
      return Buffer.from(eventText('reset', now))
    }
    return Buffer.from(eventText('change', now, { more: names }))
  }
}
