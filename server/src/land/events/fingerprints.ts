import { type Coord, coordText, encodeTokenId, parseCoord } from '@landpass/client/grid'
import { keccak256 } from '../../ethereum/keccak256.ts'
import { word } from '../../ethereum/words.ts'
import { type Awaitable, type EstateRow, type LandRows, whenRead } from './land-rows.ts'

/**
 * The fingerprint of an estate says which parcels it has, so that a bid is good for these alone (chain-facts, section 6):
 * keccak256("estateId" ++ id) XOR keccak256(token id) … over its parcels, in any order. 32 bytes as `0x` and lower-case
 * hex.
 *
 * @example
 * estateFingerprint('3', []) // '0xddb2364e2ad70c712830fb8b52823d50e037df0bd5c7351085a42f28d82a5d89'
 */
export function estateFingerprint(estateId: string, parcels: Iterable<Coord>): string {
  let value = hashOf(Buffer.concat([PREFIX, wordBytes(BigInt(estateId))]))
  for (const parcel of parcels) value ^= parcelHash(parcel)
  return hex(value)
}

/**
 * The second fingerprint, which stands for the order of the parcels, too: keccak256(abi.encode("estateId", id, token ids)).
 *
 * @param parcels in the order in which the registry keeps them: see {@link registryOrder}
 * @example
 * estateFingerprintV2('42', []) // '0x738ec4523a32e26714b239cad35c0e20abdbe3b7073a069dc28acda6db04e5e6'
 */
export function estateFingerprintV2(estateId: string, parcels: readonly Coord[]): string {
  const words = [
    ...[wordBytes(3n * WORD_BYTES), wordBytes(BigInt(estateId)), wordBytes(5n * WORD_BYTES)],
    ...[wordBytes(BigInt(PREFIX.length)), Buffer.concat([PREFIX], Number(WORD_BYTES))],
    wordBytes(BigInt(parcels.length)),
    ...parcels.map((parcel) => wordBytes(encodeTokenId(parcel))),
  ]
  return hex(hashOf(Buffer.concat(words)))
}

/** The first fingerprint can be forged for estates with more parcels: the registry takes it no more for them. */
export const MOST_PARCELS_OF_FIRST = 18

/** An estate as the registry has it. */
export interface FingerprintedEstate {
  readonly id: string
  /** The first one. */
  readonly fingerprint: string
  /** In the order in which the registry keeps them: see {@link registryOrder}. */
  readonly parcels: readonly Coord[]
}

/**
 * Says of values whether the registry takes them for the fingerprint of an estate, so that a bid with it can be accepted. The
 * second one is computed once, and only where a value is not the first one.
 *
 * @example
 * fingerprintTest(estate)(estate.fingerprint) // true for at most 18 parcels
 */
export function fingerprintTest({
  id,
  fingerprint,
  parcels,
}: FingerprintedEstate): (value: string) => boolean {
  let second: string | undefined
  return (value) => {
    if (value === fingerprint) return parcels.length <= MOST_PARCELS_OF_FIRST
    if (value.length !== fingerprint.length) return false
    second ??= estateFingerprintV2(id, parcels)
    return value === second
  }
}

/**
 * The parcels of an estate in the order in which the registry keeps them.
 *
 * @param members in the order in which they joined
 */
export function registryOrder(
  { registry_order }: Pick<EstateRow, 'registry_order'>,
  members: readonly Coord[],
): readonly Coord[] {
  if (registry_order === null) return members
  const kept = registry_order.split(' ').flatMap((text) => parseCoord(text) ?? [])
  // A snapshot may have an order of other parcels.
  return kept.length === members.length ? kept : members
}

/**
 * The order after a parcel has left, whose place the last one takes: what the row of the estate keeps of it.
 *
 * @param members without the parcel, in the order in which they joined
 */
export function orderWithout(
  before: readonly Coord[],
  { parcel, members }: { readonly parcel: Coord; readonly members: readonly Coord[] },
): string | null {
  const order = [...before]
  const at = order.findIndex(({ x, y }) => x === parcel.x && y === parcel.y)
  const last = order.pop()
  if (last && at >= 0 && at < order.length) order[at] = last
  const isSame = order.every(({ x, y }, place) => x === members[place]?.x && y === members[place]?.y)
  return isSame ? null : order.map(coordText).join(' ')
}

/**
 * The fingerprint after a parcel joined or left the estate: adding and removing are the same operation.
 *
 * @example
 * toggleParcel(toggleParcel(fingerprint, { x: 8, y: 20 }), { x: 8, y: 20 }) // fingerprint
 */
export function toggleParcel(fingerprint: string, parcel: Coord): string {
  return hex(BigInt(fingerprint) ^ parcelHash(parcel))
}

/** The fingerprint in the row of an estate; where a snapshot left it out, that of its parcels. */
export function fingerprintOf(rows: LandRows, { id, fingerprint }: EstateRow): Awaitable<string> {
  return fingerprint ?? whenRead(rows.parcelsOfEstate(id), (parcels) => estateFingerprint(id, parcels))
}

const PREFIX = Buffer.from('estateId')
const WORD_BYTES = 32n

/** Hashes of parcels that joined or left an estate: in a history, each of them many times. */
const PARCEL_HASHES = new Map<number, bigint>()
/** 5 MB. */
const MAX_PARCEL_HASHES = 50_000

function parcelHash(parcel: Coord): bigint {
  // Coordinates are within a million: the contract has no others.
  const key = parcel.x * 2 ** 22 + parcel.y
  const known = PARCEL_HASHES.get(key)
  if (known !== undefined) return known
  const hash = hashOf(wordBytes(encodeTokenId(parcel)))
  if (PARCEL_HASHES.size >= MAX_PARCEL_HASHES) PARCEL_HASHES.clear()
  PARCEL_HASHES.set(key, hash)
  return hash
}

function hashOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(keccak256(bytes)).toString('hex')}`)
}

function wordBytes(value: bigint): Buffer {
  return Buffer.from(word(value), 'hex')
}

function hex(value: bigint): string {
  return `0x${word(value)}`
}
