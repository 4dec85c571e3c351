/** Types of search results. Of two equally good results, the one whose type is first in this list comes first. */
export const PLACE_TYPES = ['district', 'estate', 'parcel', 'address'] as const
export type PlaceType = (typeof PLACE_TYPES)[number]
