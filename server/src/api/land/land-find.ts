import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import type { NumberSet } from '../../state/parts/number-set.ts'
import type { State } from '../../state/state.ts'
import { matchingAssets } from './land-matches.ts'
import type { LandQuery } from './land-query.ts'
import { assetsWithText } from './land-texts.ts'
import type { LandView } from './land-view.ts'

/** Parcels and estates of the world through which a query goes for one unit. */
const ASSETS_PER_UNIT = 7_500

/** Cost of finding the rows of a query, in units of one parcel read. */
export function findCost({ assets }: LandView): number {
  return SMALL_ANSWER_UNITS + assets.count / ASSETS_PER_UNIT
}

/**
 * The assets that match a query.
 *
 * @param among the only ones that are looked at
 * @throws {AppError} `invalid_parameter` where `neighbours_of` is no asset on the map
 */
export async function findAssets(
  state: State,
  view: LandView,
  query: LandQuery,
  among?: NumberSet,
): Promise<NumberSet> {
  const found = matchingAssets(view, query, among)
  return query.text === undefined ? found : assetsWithText(state, query.text, found)
}
