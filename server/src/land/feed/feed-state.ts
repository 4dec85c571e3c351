import type { Freshness } from '../../http/answers.ts'
import type { Present } from '../present/present.ts'
import type { Sales } from '../present/sales.ts'
import { VERSION } from './feed-layout.ts'

/** The land at one time: all that a part of the feed is made of. */
export interface Moment {
  readonly present: Present
  readonly sales: Sales
}

export function momentOf(present: Present, nowMs: number): Moment {
  return { present, sales: present.sales(nowMs) }
}

/** What tells one state of the feed from another: the database, its revision, and the last offer that expired. */
export interface FeedState {
  readonly lineage: string
  readonly revision: number
  /** 0 where none has expired. */
  readonly lastExpiryMs: number
}

export function stateOf({ present, sales }: Moment): FeedState {
  const { lineage } = present.parts
  return { lineage, revision: present.revision, lastExpiryMs: sales.lastExpiryMs }
}

/**
 * The written form of a state: what readers give back as `since`, and the tag of the whole feed.
 *
 * @example
 * stateText({ lineage: '5f1c3a9b2d40', revision: 7, lastExpiryMs: 0 }) // '1.5f1c3a9b2d40.7.0'
 */
export function stateText({ lineage, revision, lastExpiryMs }: FeedState): string {
  return `${VERSION}.${lineage}.${revision}.${lastExpiryMs}`
}

const STATE = new RegExp(`^${VERSION}\\.([\\w-]{1,40})\\.(0|[1-9]\\d{0,14})\\.(0|[1-9]\\d{0,14})$`)

/** Reads {@link stateText}; undefined for what another version of the feed, or nobody, has written. */
export function parseState(text: string): FeedState | undefined {
  const [, lineage, revision, lastExpiryMs] = STATE.exec(text) ?? []
  if (lineage === undefined) return undefined
  return { lineage, revision: Number(revision), lastExpiryMs: Number(lastExpiryMs) }
}

/** The freshness of what a reader gets: the whole feed, or what leads from its state to this one. */
export function feedFreshness(moment: Moment, since?: FeedState): Freshness {
  const { changedAtMs } = moment.present.freshness(moment.sales.lastExpiryMs)
  const state = stateText(stateOf(moment))
  return { tag: since ? `${state}-${stateText(since)}` : state, changedAtMs }
}
