import type { StatGroup, Stats } from '@landpass/client'
import { formatComputedPrice, formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Fact, Facts } from './facts.tsx'

/** Whether anything was sold. @param stats by `total` */
export function hasSales(stats: Stats | undefined): boolean {
  return stats?.groups[0] !== undefined && stats.groups[0].sales.count > 0
}

/** What is for sale, and what was sold, of some land. Offers in dollars alone are not counted: they have no part in the cheapest price. */
export function Market({ total: { open, sales } }: { readonly total: StatGroup }) {
  const price = (mana: string | null | undefined) =>
    mana === null || mana === undefined ? '–' : formatComputedPrice(Number(mana))
  return (
    <Facts>
      <Fact name={text('district.on_sale')}>{formatNumber(open?.count ?? 0)}</Fact>
      <Fact name={text('district.floor')}>{price(open?.floor_per_parcel)}</Fact>
      <Fact name={text('district.sold')}>{formatNumber(sales.count)}</Fact>
      <Fact name={text('district.median')}>{price(sales.per_parcel.median)}</Fact>
    </Facts>
  )
}
