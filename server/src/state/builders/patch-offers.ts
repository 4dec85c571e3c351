import { withValues } from '../parts/columns.ts'
import { patchJsonBuffer } from '../parts/json-buffer.ts'
import { ASSET_TYPE_CODES, type PublicationParts } from '../parts/parts.ts'
import type { PublicationFacts } from './publication-facts.ts'

/** The first offer of each asset: see `AssetOffers`. */
export interface OfferedAssets {
  readonly firstOfParcel: Int32Array
  readonly firstOfEstate: Int32Array
}

type Offers = Pick<
  PublicationParts,
  'openJson' | 'openExpiresAtMs' | 'openMadeAtMs' | 'openPrice' | 'openKey' | 'openNext'
>

export interface PatchedOffers extends OfferedAssets {
  /** The offer number of each changed publication, or -1 for a closed one. */
  readonly open: Int32Array
  readonly offers: Offers
}

/**
 * Patches the open publications. Those that stay open keep their offer numbers, closed ones leave an empty piece, new
 * ones get the next numbers. Only the linked lists of the changed assets are linked again.
 *
 * @param gone the old rows of the changed and the removed publications
 */
export function patchOffers(
  held: OfferedAssets & { readonly parts: PublicationParts },
  gone: readonly number[],
  changed: readonly PublicationFacts[],
): PatchedOffers {
  const { parts } = held
  const numberOfKey = new Map<number, number>()
  for (const row of gone) if (parts.open[row]! >= 0) numberOfKey.set(parts.key[row]!, parts.open[row]!)
  let count = parts.openKey.length
  const open = Int32Array.from(changed, ({ key, json }) =>
    json === undefined ? -1 : (numberOfKey.get(key) ?? count++),
  )
  const columns = columnsWith(parts, changed, open, { count, emptied: numberOfKey.values() })
  const chains = chainsWith(held, gone, changed, open)
  return { open, ...link(held, columns, chains) }
}

function columnsWith(
  parts: Offers,
  changed: readonly PublicationFacts[],
  open: Int32Array,
  { count, emptied }: { readonly count: number; readonly emptied: Iterable<number> },
): Offers {
  const pieces = new Map<number, string>()
  const openExpiresAtMs = new Float64Array(count)
  const openMadeAtMs = new Float64Array(count)
  const openKey = new Uint32Array(count)
  const openNext = new Int32Array(count).fill(-1)
  const openPrice = parts.openPrice.slice()
  openExpiresAtMs.set(parts.openExpiresAtMs)
  openMadeAtMs.set(parts.openMadeAtMs)
  openKey.set(parts.openKey)
  openNext.set(parts.openNext)
  for (const number of emptied) {
    pieces.set(number, '')
    openExpiresAtMs[number] = 0
    openPrice[number] = ''
  }
  for (const [i, { key, price, expiresAtMs, madeAtMs, json }] of changed.entries()) {
    const number = open[i]!
    if (json === undefined) continue
    pieces.set(number, json)
    openExpiresAtMs[number] = expiresAtMs
    openMadeAtMs[number] = madeAtMs
    openKey[number] = key
    openPrice[number] = price
  }
  return {
    openJson: patchJsonBuffer(parts.openJson, pieces),
    openExpiresAtMs,
    openMadeAtMs,
    openKey,
    openNext,
    openPrice,
  }
}

/** The offers of one asset. */
interface Chain {
  readonly type: number
  readonly asset: number
  readonly offers: number[]
}

/** The assets that gain or lose an offer, each with the offers that it has now. */
function chainsWith(
  held: OfferedAssets & { readonly parts: PublicationParts },
  gone: readonly number[],
  changed: readonly PublicationFacts[],
  open: Int32Array,
): readonly Chain[] {
  const { open: oldOpen, openNext, assetType, asset: oldAsset } = held.parts
  const moved = new Set(gone.map((row) => oldOpen[row]!))
  const chains = new Map<string, Chain>()
  const chainOf = (type: number, assetRow: number): Chain => {
    const name = `${type} ${assetRow}`
    const known = chains.get(name)
    if (known) return known
    const offers: number[] = []
    const first = firstOf(held, type)[assetRow]!
    for (let offer = first; offer >= 0; offer = openNext[offer]!) if (!moved.has(offer)) offers.push(offer)
    const chain = { type, asset: assetRow, offers }
    chains.set(name, chain)
    return chain
  }
  for (const row of gone)
    if (oldOpen[row]! >= 0 && oldAsset[row]! >= 0) chainOf(assetType[row]!, oldAsset[row]!)
  for (const [i, { assetType: type, asset }] of changed.entries())
    if (open[i]! >= 0 && asset >= 0) chainOf(type, asset).offers.push(open[i]!)
  return [...chains.values()]
}

/** Links the offers of each chain, newest first. Writes into the columns of `offers`, which are new copies. */
function link(
  held: OfferedAssets,
  offers: Offers,
  chains: readonly Chain[],
): OfferedAssets & { offers: Offers } {
  const { openMadeAtMs, openKey, openNext } = offers
  const [ofParcels, ofEstates] = [new Map<number, number>(), new Map<number, number>()]
  for (const { type, asset, offers: numbers } of chains) {
    numbers.sort((a, b) => openMadeAtMs[b]! - openMadeAtMs[a]! || openKey[b]! - openKey[a]!)
    const firsts = type === ASSET_TYPE_CODES.parcel ? ofParcels : ofEstates
    firsts.set(asset, numbers[0] ?? -1)
    for (const [i, number] of numbers.entries()) openNext[number] = numbers[i + 1] ?? -1
  }
  return {
    firstOfParcel: withValues(held.firstOfParcel, ofParcels),
    firstOfEstate: withValues(held.firstOfEstate, ofEstates),
    offers,
  }
}

function firstOf({ firstOfParcel, firstOfEstate }: OfferedAssets, type: number): Int32Array {
  return type === ASSET_TYPE_CODES.parcel ? firstOfParcel : firstOfEstate
}
