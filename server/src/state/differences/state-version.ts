import { FEED_VERSION } from '@landpass/client/feed'
import type { Sales } from '../parts/sales.ts'
import type { State } from '../state.ts'

/** A state, and what is for sale in it at one time: what the feed and the stream of changes are made of. */
export interface StateAt {
  readonly state: State
  readonly sales: Sales
}

export function stateAt(state: State, nowMs: number): StateAt {
  return { state, sales: state.sales(nowMs) }
}

/** What tells two states apart for a client: the database, its revision, and the last offer that expired. */
export interface StateVersion {
  readonly lineage: string
  readonly revision: number
  /** 0 where none has expired. */
  readonly lastExpiryMs: number
}

export function versionOf({ state, sales }: StateAt): StateVersion {
  const { lineage } = state.parts
  return { lineage, revision: state.revision, lastExpiryMs: sales.lastExpiryMs }
}

/**
 * The written form of a state version: what clients give back as `since`, and the tag of the whole feed.
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

/** Reads {@link versionText}; undefined for any other text, that of another format of the feed among them. */
export function parseVersion(text: string): StateVersion | undefined {
  const [, lineage, revision, lastExpiryMs] = VERSION_PATTERN.exec(text) ?? []
  if (lineage === undefined) return undefined
  return { lineage, revision: Number(revision), lastExpiryMs: Number(lastExpiryMs) }
}
