import type { Estate, Parcel } from './types.ts'

/** Whether an asset of the marketplace is an estate; otherwise it is a parcel. */
export function isEstate(asset: Parcel | Estate): asset is Estate {
  return !('x' in asset)
}
