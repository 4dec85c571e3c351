import { rentJson } from '../../land/records/assets.ts'
import { firstBeyond } from './merge-rows.ts'
import type { AssetRents } from './parts.ts'

/** The last rent of an asset. Whether it runs depends on the clock. */
export interface Rent {
  readonly tenant: string
  /** Milliseconds since 1970; from then on the rent is over. */
  readonly untilMs: number
  /** Whether the contract of the rent has the token: also after the end, until the lessor claims it. */
  readonly isHeld: boolean
}

interface RentColumns {
  readonly tenant: string | null
  readonly rented_until_ms: number | null
  readonly holder: string | null
}

/** The rent of a row of the tables; undefined for an asset that is not rented, or of whose rent one half is unknown. */
export function rentOf({ tenant, rented_until_ms: untilMs, holder }: RentColumns): Rent | undefined {
  return tenant === null || untilMs === null ? undefined : { tenant, untilMs, isHeld: holder !== null }
}

/** @param rents of each asset, by its row */
export function buildRents(rents: readonly (Rent | undefined)[]): AssetRents {
  return rentColumns(rents.entries())
}

function rentColumns(rents: Iterable<readonly [number, Rent | undefined]>): AssetRents {
  const rented = [...rents].flatMap(([row, rent]) => (rent ? [[row, rent] as const] : []))
  return {
    rows: Uint32Array.from(rented, ([row]) => row),
    untilMs: Float64Array.from(rented, ([, { untilMs }]) => untilMs),
    tenants: rented.map(([, { tenant }]) => tenant),
    isHeld: Uint8Array.from(rented, ([, { isHeld }]) => Number(isHeld)),
  }
}

/** Replaces the rents of some assets, by their rows. */
export function patchRents(held: AssetRents, changed: ReadonlyMap<number, Rent | undefined>): AssetRents {
  if ([...changed].every(([row, rent]) => isSame(findRent(held, row), rent))) return held
  const rents = new Map<number, Rent | undefined>()
  for (const [i, row] of held.rows.entries()) rents.set(row, rentAt(held, i))
  for (const [row, rent] of changed) rents.set(row, rent)
  return rentColumns([...rents].sort(([a], [b]) => a - b))
}

function isSame(a: Rent | undefined, b: Rent | undefined): boolean {
  return a?.tenant === b?.tenant && a?.untilMs === b?.untilMs && a?.isHeld === b?.isHeld
}

/** The rent of an asset; undefined where it has none. */
export function findRent(rents: AssetRents, row: number): Rent | undefined {
  const place = firstRentFrom(rents, row)
  return rents.rows[place] === row ? rentAt(rents, place) : undefined
}

/** The rent at a place in the columns. */
export function rentAt({ tenants, untilMs, isHeld }: AssetRents, place: number): Rent {
  return { tenant: tenants[place]!, untilMs: untilMs[place]!, isHeld: isHeld[place] === 1 }
}

/** The place of the first rent whose row is not before this one; their number if there is none. */
export function firstRentFrom({ rows }: AssetRents, row: number): number {
  return firstBeyond(rows, 0, (other) => other >= row)
}

/** When the last rent of a row from `from` to before `to` ended, at `nowMs` or before; 0 if none has. */
export function lastRentEnd(
  rents: AssetRents,
  nowMs: number,
  { from, to }: { readonly from: number; readonly to: number } = ALL_ROWS,
): number {
  const { rows, untilMs } = rents
  let last = 0
  for (let place = firstRentFrom(rents, from); place < rows.length && rows[place]! < to; place++) {
    const endMs = untilMs[place]!
    if (endMs <= nowMs && endMs > last) last = endMs
  }
  return last
}

const ALL_ROWS = { from: 0, to: Number.POSITIVE_INFINITY }

/** The end of an asset's JSON with a rent that runs, up to its publication; undefined for one that is over. */
export function runningRentJson(rent: Rent | undefined, nowMs: number): Uint8Array | undefined {
  return rent && rent.untilMs > nowMs ? Buffer.from(rentJson(rent)) : undefined
}
