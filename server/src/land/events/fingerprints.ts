import { type Coord, encodeTokenId } from '@landpass/client/grid'
import { keccak256 } from '../../ethereum/keccak256.ts'
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
  let value = hashOf(Buffer.concat([PREFIX, word(BigInt(estateId))]))
  for (const parcel of parcels) value ^= parcelHash(parcel)
  return hex(value)
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

/** Hashes of parcels that joined or left an estate: in a history, each of them many times. */
const PARCEL_HASHES = new Map<number, bigint>()
/** 5 MB. */
const MAX_PARCEL_HASHES = 50_000

function parcelHash(parcel: Coord): bigint {
  // Coordinates are within a million: the contract has no others.
  const key = parcel.x * 2 ** 22 + parcel.y
  const known = PARCEL_HASHES.get(key)
  if (known !== undefined) return known
  const hash = hashOf(word(encodeTokenId(parcel)))
  if (PARCEL_HASHES.size >= MAX_PARCEL_HASHES) PARCEL_HASHES.clear()
  PARCEL_HASHES.set(key, hash)
  return hash
}

function hashOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(keccak256(bytes)).toString('hex')}`)
}

/** A uint256 as 32 bytes. */
function word(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

function hex(value: bigint): string {
  return `0x${value.toString(16).padStart(64, '0')}`
}
