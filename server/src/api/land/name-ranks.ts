import { firstBeyond, mergeRows } from '../../state/parts/merge-rows.ts'
import { NumberSet } from '../../state/parts/number-set.ts'
import { foldText } from '../common/fold.ts'

/** Names are sorted by so many characters. */
const SORTED_LENGTH = 100

type Names = readonly (string | undefined)[]

/** The names of assets in alphabetical order, case and accents apart. */
export interface NameRanks {
  /** Per asset the rank of its name, or -1. Equal names have the same rank. */
  readonly ranks: Float64Array
  /** The assets that have a name. */
  readonly named: NumberSet
  /** The folded name of an asset; undefined where it has none. */
  keyOf(asset: number): string | undefined
  /** The rank of a folded name; half a rank below that of the next one where no asset has it. */
  rankOf(key: string): number
}

interface Known {
  readonly estates: Names
  readonly parcels: Names
  readonly keys: Names
  /** The assets that have a name, by its key, then by number. */
  readonly sorted: Uint32Array
  readonly named: NumberSet
  readonly ranks: Float64Array
}

/** Those of the last state: the next one mostly has the same names, or others for a few assets. */
let latest: Known | undefined

/**
 * The ranks of the names of estates and parcels, in the order of `LandAssets`. Sorting 18,000 names takes some 30 ms; where a few names
 * changed since the last call, only these are sorted in.
 */
export function nameRanks(estates: Names, parcels: Names, count: number): NameRanks {
  if (latest?.estates !== estates || latest.parcels !== parcels) latest = sort(estates, parcels, count)
  const { keys, named, sorted, ranks } = latest
  return {
    ranks,
    named,
    keyOf: (asset) => keys[asset],
    rankOf: (key) => {
      const at = firstBeyond(sorted, 0, (asset) => keys[asset]! >= key)
      return keys[sorted[at]!] === key ? ranks[sorted[at]!]! : at - 0.5
    },
  }
}

function sort(estates: Names, parcels: Names, count: number): Known {
  // A new estate moves all assets after it.
  const before =
    latest?.estates.length === estates.length && latest.keys.length === count ? latest : undefined
  const keys: (string | undefined)[] = new Array(count)
  const changed: number[] = []
  for (let asset = 0; asset < count; asset++) {
    const row = asset - estates.length
    const name = row < 0 ? estates[asset] : parcels[row]
    const known = row < 0 ? before?.estates[asset] : before?.parcels[row]
    if (before && name === known) {
      keys[asset] = before.keys[asset]
      continue
    }
    keys[asset] = name === undefined ? undefined : foldText(name).slice(0, SORTED_LENGTH)
    if (name !== undefined || known !== undefined) changed.push(asset)
  }
  const compare = (a: number, b: number) => {
    const [left, right] = [keys[a]!, keys[b]!]
    return left < right ? -1 : left > right ? 1 : a - b
  }
  const isChanged = new Set(changed)
  const same = before ? before.sorted.filter((asset) => !isChanged.has(asset)) : new Uint32Array(0)
  const added = Uint32Array.from(changed.filter((asset) => keys[asset] !== undefined)).sort(compare)
  const sorted = mergeRows(same, added, compare)
  const ranks = new Float64Array(count).fill(-1)
  let rank = 0
  for (let i = 0; i < sorted.length; i++) {
    if (keys[sorted[i]!] !== keys[sorted[i - 1]!]) rank = i
    ranks[sorted[i]!] = rank
  }
  return { estates, parcels, keys, named: NumberSet.of(sorted, count), sorted, ranks }
}
