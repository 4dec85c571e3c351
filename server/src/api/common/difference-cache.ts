import { RecentVersions } from '../../state/differences/recent-versions.ts'
import {
  type StateAt,
  type StateVersion,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import { PromiseCache } from './promise-cache.ts'

/**
 * A cache of what differs between an earlier state and a current one, each made once for all clients. Clients can
 * invent states: what leads on from states that this process has had is kept apart, so no invented one pushes it out.
 */
export class DifferenceCache<Result> {
  private readonly recent: RecentVersions
  private readonly ofRecent: PromiseCache<Result>
  private readonly ofOthers: PromiseCache<Result>

  /** @param max the number of cached results of each kind; the least recently used one of its kind is dropped */
  constructor(max: number) {
    this.recent = new RecentVersions(max)
    this.ofRecent = new PromiseCache(max)
    this.ofOthers = new PromiseCache(max)
  }

  /** Call it with each state that becomes the current one. */
  note(now: StateAt): void {
    this.recent.note(versionOf(now))
  }

  /** Whether this process has had the state lately. */
  isRecent(since: StateVersion): boolean {
    return this.recent.has(since)
  }

  /** @throws what `make` throws */
  get(since: StateVersion, now: StateAt, make: () => Promise<Result>): Promise<Result> {
    this.note(now)
    const cache = this.isRecent(since) ? this.ofRecent : this.ofOthers
    return cache.get(`${versionText(since)} ${versionText(versionOf(now))}`, make)
  }
}
