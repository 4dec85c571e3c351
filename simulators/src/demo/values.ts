import { ExactNumber } from '@landpass/server/land/records/exact-json'
import type { Random } from '../random.ts'
import type { CityPlan } from './city-plan.ts'

/** What land is worth next to what it cost in the first sale, in percent, by year from 2018 on. */
const MARKET_PERCENT = [640, 520, 610, 1450, 1180, 640, 470, 420, 450]

/** Whole MANA of the first sale: higher near plazas and roads, and near the middle of the city. */
export function auctionPrice(plan: CityPlan, cell: number, random: Random): number {
  const { grid, center, plazaDistance, roadDistance } = plan
  const away = Math.max(Math.abs(grid.x(cell) - center.x), Math.abs(grid.y(cell) - center.y))
  const central = Math.max(0, grid.radius - 2 * away)
  const plaza = Math.max(0, 10 - plazaDistance[cell]!)
  const road = Math.max(0, 4 - roadDistance[cell]!)
  const bonus =
    plaza * plaza * 45 + road * 160 + Math.floor((central * central * 1800) / (grid.radius * grid.radius))
  // Most land at a distance went for the lowest price there was.
  return 1000 + Math.floor((bonus * random.between(0, 100)) / 100)
}

/** An asking price at a time, whole MANA: around the worth of that year, often rounded to few digits. */
export function askingPrice(value: number, timeS: number, random: Random): number {
  const year = new Date(timeS * 1000).getUTCFullYear() - 2018
  const percent = MARKET_PERCENT[Math.min(year, MARKET_PERCENT.length - 1)]!
  const exact = Math.floor((value * percent * random.between(70, 165)) / 10_000)
  // A few owners ask for far too much.
  return rounded(random.below(250) === 0 ? exact * 60 : exact, random)
}

function rounded(price: number, random: Random): number {
  let step = 1
  while (step * 100 <= price) step *= 10
  const style = random.below(10)
  if (style < 6) return Math.max(1, Math.floor(price / step) * step)
  if (style < 8) return Math.max(1, Math.floor(price / step) * step + step - 1)
  return Math.max(1, price)
}

/** A price as it stands in the file: mostly whole, sometimes with cents, seldom with up to eighteen decimals. */
export function priceText(whole: number, random: Random): ExactNumber {
  const draw = random.below(400)
  if (draw >= 2 && draw < 22)
    return new ExactNumber(withDecimals(whole, random.between(1, 99).toString().padStart(2, '0')))
  if (draw >= 22) return new ExactNumber(String(whole))
  return new ExactNumber(withDecimals(whole, digits(random.between(3, 18), random)))
}

/** A price that no floating-point number can hold. */
export function awkwardPrice(whole: number, random: Random): ExactNumber {
  return new ExactNumber(withDecimals(whole, digits(18, random)))
}

function digits(count: number, random: Random): string {
  return Array.from({ length: count }, (_, at) => random.between(at === count - 1 ? 1 : 0, 9)).join('')
}

/** Without zeros at the end: a JSON number is written in its shortest form. */
function withDecimals(whole: number, decimals: string): string {
  const kept = decimals.replace(/0+$/, '')
  return kept === '' ? String(whole) : `${whole}.${kept}`
}

/** An amount in hundredths of a MANA, as it stands in the file. */
export function centsText(cents: number): ExactNumber {
  return new ExactNumber(withDecimals(Math.floor(cents / 100), (cents % 100).toString().padStart(2, '0')))
}
