import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
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

/** The numbers of the assets that match a query, ascending. */
export async function findAssets(state: State, view: LandView, query: LandQuery): Promise<Uint32Array> {
  const withText = query.text === undefined ? undefined : await assetsWithText(state, query.text)
  return matchingAssets(view, query, withText)
}
