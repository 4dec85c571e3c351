import type { Estate, Parcel } from './types.ts'

/** Which of the two an asset of the marketplace is. */
export function isEstate(asset: Parcel | Estate): asset is Estate {
  return !('x' in asset)
}
