/** What a search can find. Where two answer a text equally well, the larger place comes first. */
export const PLACE_TYPES = ['district', 'estate', 'parcel', 'address'] as const
export type PlaceType = (typeof PLACE_TYPES)[number]
