import type { land } from '@landpass/client'
import { type FilterGroup, groupsOf, type LandFilter } from './land-filter.ts'

/** Parameters that `/v2/sales` and `/v2/stats` share. */
export type SaleQuery = Omit<NonNullable<Parameters<typeof land.stats>[0]>, 'by'>

/** Which sales a part of the page shows. */
export interface SalesProps {
  readonly query: SaleQuery
}

/** The others speak of offers, owners and names of now: they say nothing of a sale. */
const GROUPS_OF_SALES: readonly FilterGroup[] = ['asset_type', 'size', 'plaza', 'road', 'in_district', 'area']

/**
 * The filters of the page that sales have too.
 *
 * @example
 * saleQuery({ status: 'open', min_size: '2', nw: '0,9', se: '9,0' }) // { min_size: 2, nw: '0,9', se: '9,0' }
 */
export function saleQuery(filter: LandFilter): SaleQuery {
  const { asset_type, in_district: district, nw, se, min_size, max_size, max_plaza, max_road } = filter
  const limits = Object.entries({ min_size, max_size, max_plaza, max_road }).flatMap(([name, limit]) =>
    limit === undefined ? [] : [[name, Number(limit)] as const],
  )
  return {
    ...(asset_type !== undefined && { asset_type }),
    ...(district !== undefined && { district }),
    ...(nw !== undefined && se !== undefined && { nw, se }),
    ...Object.fromEntries(limits),
  }
}

/** The filters that are on and that {@link saleQuery} leaves out. */
export function otherGroups(filter: LandFilter): readonly FilterGroup[] {
  return groupsOf(filter).filter((group) => !GROUPS_OF_SALES.includes(group))
}
