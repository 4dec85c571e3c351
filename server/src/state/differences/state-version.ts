import { FEED_VERSION } from '@landpass/client/feed'
import type { OpenOffers } from '../parts/open-offers.ts'
import type { State } from '../state.ts'

/** A state and its offers at one time. The feed and the change stream are made of it. */
export interface StateAt {
  readonly state: State
  readonly openOffers: OpenOffers
}

export function stateAt(state: State, nowMs: number): StateAt {
  return { state, openOffers: state.openOffers(nowMs) }
}

/** Identifies what a client has seen: the database, its revision, and when the last offer expired. */
export interface StateVersion {
  readonly lineage: string
  readonly revision: number
  /** 0 where no offer has expired. */
  readonly lastExpiryMs: number
}

export function versionOf({ state, openOffers }: StateAt): StateVersion {
  const { lineage } = state.parts
  return { lineage, revision: state.revision, lastExpiryMs: openOffers.lastExpiryMs }
}

/**
 * A state version as text: what clients send back as `since`, and the `ETag` of the whole feed.
 *
 * @example
 * versionText({ lineage: '5f1c3a9b2d40', revision: 7, lastExpiryMs: 0 }) // '1.5f1c3a9b2d40.7.0'
 */
export function versionText({ lineage, revision, lastExpiryMs }: StateVersion): string {
  return `${FEED_VERSION}.${lineage}.${revision}.${lastExpiryMs}`
}

const VERSION_PATTERN = new RegExp(
  `^${FEED_VERSION}\\.([\\w-]{1,40})\\.(0|[1-9]\\d{0,14})\\.(0|[1-9]\\d{0,14})$`,
)

/** Parses {@link versionText}; undefined for any other text, including one of another format of the feed. */
export function parseVersion(text: string): StateVersion | undefined {
  const [, lineage, revision, lastExpiryMs] = VERSION_PATTERN.exec(text) ?? []
  if (lineage === undefined) return undefined
  return { lineage, revision: Number(revision), lastExpiryMs: Number(lastExpiryMs) }
}
