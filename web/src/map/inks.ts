/**
 * The inks that a layer paints with, as numbers of `LayerInks`. `map-palette.ts` has the colour of each ink in either
 * theme, for the map and the legends.
 */

/** No ink: the ground shows. */
export const NO_INK = 0
export const ON_SALE_INK = 1
/** Prices from cheap to dear: this ink and the following, {@link PRICE_STEPS} in all. */
export const FIRST_PRICE_INK = 2
export const PRICE_STEPS = 7
/** Land of the address that the reader named. */
export const MINE_INK = 9
export const DISTRICT_INK = 10
/** The one district that the reader chose among all of them. */
export const CHOSEN_DISTRICT_INK = 11
/** Inks in all, {@link NO_INK} among them. */
export const INK_COUNT = 12

/** Added to the number of an ink, also to {@link NO_INK}: the cell is dimmed. */
export const DIMMED = 0x80
