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

/** Identifies what a client has seen: where the state comes from, its revision, and when the last offer expired. */
export interface StateVersion {
  /** See {@link State.origin}. */
  readonly origin: string
  readonly revision: number
  /** 0 where no offer has expired. */
  readonly lastExpiryMs: number
}

export function versionOf({ state, openOffers }: StateAt): StateVersion {
  return { origin: state.origin, revision: state.revision, lastExpiryMs: openOffers.lastExpiryMs }
}

/**
 * A state version as text: what clients send back as `since`, and the `ETag` of the whole feed.
 *
 * @example
 * versionText({ origin: '5f1c3a9b2d40-Kw3xZ', revision: 7, lastExpiryMs: 0 }) // '1.5f1c3a9b2d40-Kw3xZ.7.0'
 */
export function versionText({ origin, revision, lastExpiryMs }: StateVersion): string {
  return `${FEED_VERSION}.${origin}.${revision}.${lastExpiryMs}`
}

const VERSION_PATTERN = new RegExp(
  `^${FEED_VERSION}\\.([\\w-]{1,40})\\.(0|[1-9]\\d{0,14})\\.(0|[1-9]\\d{0,14})$`,
)

/** Parses {@link versionText}; undefined for any other text, including one of another format of the feed. */
export function parseVersion(text: string): StateVersion | undefined {
  const [, origin, revision, lastExpiryMs] = VERSION_PATTERN.exec(text) ?? []
  if (origin === undefined) return undefined
  return { origin, revision: Number(revision), lastExpiryMs: Number(lastExpiryMs) }
}
