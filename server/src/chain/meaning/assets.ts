import { type Coord, coordText, decodeTokenId } from '@landpass/client/grid'
import type { AssetName } from '../../land/records/assets.ts'
import type { Network } from '../chain-types.ts'
import { UnfitLogError } from '../logs/log-data.ts'

/**
 * The parcel of a token id.
 *
 * @throws {UnfitLogError} for an id outside the bounds of the contract, which it never logs
 * @example
 * parcelOf(340282366920938463463374607431768211458n) // { x: 1, y: 2 }
 */
export function parcelOf(tokenId: bigint): Coord {
  return decodeTokenId(tokenId) ?? unfit('a token id is outside the bounds of the LAND contract')
}

/**
 * The parcel of two coordinates, within the bounds of the contract.
 *
 * @throws {UnfitLogError} outside of them
 */
export function parcelAt(x: bigint, y: bigint): Coord {
  const isSmall = BigInt.asIntN(32, x) === x && BigInt.asIntN(32, y) === y
  if (!isSmall) return unfit('coordinates are outside the bounds of the LAND contract')
  return parcelOf((BigInt.asUintN(128, x) << 128n) | BigInt.asUintN(128, y))
}

/** @throws {UnfitLogError} for 0: estates are counted from 1 */
export function estateIdOf(tokenId: bigint): string {
  return tokenId > 0n ? String(tokenId) : unfit('an estate has the number 0')
}

/** The name of a token of the LAND registry. @throws {UnfitLogError} */
export function parcelName(tokenId: bigint): AssetName {
  return { type: 'parcel', id: coordText(parcelOf(tokenId)) }
}

/** The name of a token of the Estate registry. @throws {UnfitLogError} */
export function estateName(tokenId: bigint): AssetName {
  return { type: 'estate', id: estateIdOf(tokenId) }
}

/**
 * The parcel or estate that a token is; undefined for tokens of other contracts, which are traded in the same places.
 *
 * @throws {UnfitLogError} for an id that its registry cannot have
 */
export function assetOf({ contracts }: Network, contract: string, tokenId: bigint): AssetName | undefined {
  switch (contract) {
    case contracts.LANDRegistry.address:
      return parcelName(tokenId)
    case contracts.EstateRegistry?.address:
      return estateName(tokenId)
    default:
      return undefined
  }
}

function unfit(reason: string): never {
  throw new UnfitLogError(reason)
}
