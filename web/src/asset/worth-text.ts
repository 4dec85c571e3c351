import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'

/**
 * How the price of an offer compares with the range that sales near it give.
 *
 * @param aboveRange as `/v2/parcels/:x/:y/value` has it: 0.12 is 12 % above the range, 0 is within it
 */
export function worthText(aboveRange: number): string {
  const percent = formatNumber(Math.abs(aboveRange), { style: 'percent', maximumFractionDigits: 0 })
  if (aboveRange > 0) return text('asset.worth.above', { percent })
  return aboveRange < 0 ? text('asset.worth.below', { percent }) : text('asset.worth.within')
}
