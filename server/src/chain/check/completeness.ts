import type { AssetName } from '../../land/records/assets.ts'

/** A comparison of all land with the contracts, part by part. */
export interface CheckRound {
  /** Milliseconds since 1970. */
  readonly startedAtMs: number
  /** Its first part was compared at this block, and the others at later ones; null before the first part. */
  readonly block: number | null
  /** How many assets differ. */
  readonly differing: number
  /** The first {@link MOST_KEPT} of them. */
  readonly assets: readonly string[]
}

/** A round that has ended. */
export interface WholeRound extends CheckRound {
  /**
   * `due`: blocks of the assets that differ are to be read again. `found`: they were, and the world is to be made again with the
   * logs that were missing. `done`: there is nothing more to do.
   */
  readonly mending: 'due' | 'found' | 'done'
}

/** A round that goes on: another process, or this one after a new start, can go on with it. */
export interface OpenRound extends CheckRound {
  /** The last asset that was compared; null before the first. */
  readonly after: AssetName | null
  /** Parcels and estates. */
  readonly done: number
  readonly total: number
}

/** What is stored with the position of a world. */
export interface StoredCompleteness {
  /** The last round that has ended; null before the first end. */
  readonly whole: WholeRound | null
  /** Null between two rounds. */
  readonly round: OpenRound | null
}

/** The most assets that are named to everyone. */
export const MOST_NAMED = 20
/** The most assets whose blocks are read again. */
const MOST_KEPT = 100

export const COMPLETENESS_STATES = ['unchecked', 'checking', 'checked', 'differs'] as const

/** How far it is known that no log of the land is missing, for everyone. */
export interface Completeness {
  readonly state: (typeof COMPLETENESS_STATES)[number]
  /** Every parcel and estate was compared at this block or a later one; null before. */
  readonly block: number | null
  /** Parcels and estates that the comparison which goes on has compared, of all; null between two of them. */
  readonly done: number | null
  readonly total: number | null
  /** How many assets differ from the contracts. */
  readonly differing: number
  /** The first {@link MOST_NAMED} of them. */
  readonly assets: readonly string[]
}

/** @param text undefined where nothing was compared yet */
export function parseCompleteness(text: string | undefined): StoredCompleteness {
  return text === undefined ? { whole: null, round: null } : (JSON.parse(text) as StoredCompleteness)
}

/**
 * What everyone may know of it. What a round has found stays until a later one has compared all of it.
 *
 * @example
 * shownCompleteness(parseCompleteness(undefined)) // { state: 'unchecked', block: null, differing: 0, … }
 */
export function shownCompleteness({ whole, round }: StoredCompleteness): Completeness {
  const assets = [...new Set([...(whole?.assets ?? []), ...(round?.assets ?? [])])].slice(0, MOST_NAMED)
  const differing = Math.max(whole?.differing ?? 0, round?.differing ?? 0, assets.length)
  const known = differing > 0 ? 'differs' : whole ? 'checked' : round ? 'checking' : 'unchecked'
  return {
    state: known,
    block: whole?.block ?? null,
    done: round?.done ?? null,
    total: round?.total ?? null,
    differing,
    assets,
  }
}

/** The round after a part of it was compared. */
export function withPart(
  round: OpenRound,
  part: {
    readonly block: number
    readonly compared: readonly AssetName[]
    readonly differing: readonly string[]
  },
): OpenRound {
  const { block, compared } = part
  // A right over all land of an owner is compared with each part that has land of the owner.
  const differing = part.differing.filter((asset) => !round.assets.includes(asset))
  return {
    ...round,
    block: round.block ?? block,
    differing: round.differing + differing.length,
    assets: [...round.assets, ...differing].slice(0, MOST_KEPT),
    after: compared.at(-1) ?? round.after,
    done: round.done + compared.length,
  }
}

/**
 * A round whose last part was compared.
 *
 * @param before the round before: what differed then already, its blocks were read again
 */
export function ended(round: OpenRound, before: WholeRound | null): WholeRound {
  const { startedAtMs, block, differing, assets } = round
  const isNew = namesIn(assets).some(({ type, id }) => !before?.assets.includes(`${type} ${id}`))
  const isFound = before?.mending === 'found' && assets.length > 0
  return { startedAtMs, block, differing, assets, mending: isFound ? 'found' : isNew ? 'due' : 'done' }
}

/**
 * The parcels and estates among what differs.
 *
 * @example
 * namesIn(['parcel 3,-4', 'all parcels', 'mortgage 5']) // [{ type: 'parcel', id: '3,-4' }]
 */
export function namesIn(assets: readonly string[]): readonly AssetName[] {
  return assets.flatMap((asset) => {
    const [, type, id] = /^(parcel|estate) (\S+)$/.exec(asset) ?? []
    return type === undefined ? [] : [{ type: type as AssetName['type'], id: id! }]
  })
}
