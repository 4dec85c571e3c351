import { cellOf } from '@landpass/client/grid'
import fc from 'fast-check'
import type { TileSource } from '../../../src/api/tile-data/tile-source.ts'
import { MAINNET_REGISTRIES as REGISTRIES } from '../../../src/land/records/contracts.ts'
import { pagedColumn } from '../../../src/state/parts/columns.ts'
import { OwnerIndexWriter, ownerOfRows } from '../../../src/state/parts/owner-index.ts'
import { NO_DISTANCE } from '../../../src/state/parts/parts.ts'
import { buildRents } from '../../../src/state/parts/rents.ts'
import { KINDS, type Kind, layTileCells } from '../../../src/state/parts/tile-cells.ts'

/** A small world as a person would note it down, for the tests of tiles. */
export interface TilePlan {
  readonly width: number
  readonly height: number
  /** West to east, each column from north to south; undefined where there is no parcel. */
  readonly parcels: readonly (PlannedParcel | undefined)[]
  readonly estates: readonly PlannedEstate[]
  readonly districts: readonly ('district' | 'road' | 'plaza')[]
}

export interface PlannedParcel extends PlannedOffer {
  readonly estate: number | undefined
  readonly district: number | undefined
  readonly owner: string | undefined
  readonly name: string | undefined
  readonly updatedAtS: number
}

export interface PlannedEstate extends PlannedOffer {
  readonly owner: string
  readonly name: string | undefined
  readonly updatedAtS: number
}

/** The offer that it is shown with. */
interface PlannedOffer {
  readonly offer: { readonly price: string; readonly expiresAtMs: number } | undefined
}

/** West, north and with a negative edge, so that signs count. */
export const PLAN_CORNER = { minX: -3, maxY: 4 }

const owner = fc.constantFrom(...['1', '2', '3'].map((digit) => `0x${digit.repeat(40)}`))
const name = fc.option(
  fc.oneof(fc.string({ unit: 'grapheme-composite', minLength: 1 }), fc.constant('"\\')),
  {
    nil: undefined,
  },
)
const offer = fc.option(
  fc.record({
    price: fc.constantFrom('0', '1000', '16787.030000000000000003', '0.000000000000000001'),
    expiresAtMs: fc.integer({ min: 1, max: 2 ** 44 }),
  }),
  { nil: undefined, freq: 3 },
)
const updatedAtS = fc.integer({ min: 0, max: 2 ** 32 - 1 })
const ESTATES = 3
const DISTRICTS = 3

/** Worlds of every shape, with holes. A parcel may be of an estate, of a district, of both or of neither. */
export const tilePlan: fc.Arbitrary<TilePlan> = fc
  .record({ width: fc.integer({ min: 1, max: 6 }), height: fc.integer({ min: 1, max: 6 }) })
  .chain(({ width, height }) =>
    fc.record({
      width: fc.constant(width),
      height: fc.constant(height),
      parcels: fc.array(
        fc.option(
          fc.record({
            estate: fc.option(fc.nat(ESTATES - 1), { nil: undefined, freq: 2 }),
            district: fc.option(fc.nat(DISTRICTS - 1), { nil: undefined, freq: 2 }),
            owner: fc.option(owner, { nil: undefined }),
            name,
            updatedAtS,
            offer,
          }),
          { nil: undefined, freq: 6 },
        ),
        { minLength: width * height, maxLength: width * height },
      ),
      estates: fc.array(fc.record({ owner, name, updatedAtS, offer }), {
        minLength: ESTATES,
        maxLength: ESTATES,
      }),
      districts: fc.array(fc.constantFrom('district' as const, 'road' as const, 'plaza' as const), {
        minLength: DISTRICTS,
        maxLength: DISTRICTS,
      }),
    }),
  )

/** A parcel of a plan with its place. */
export interface PlacedParcel extends PlannedParcel {
  readonly x: number
  readonly y: number
}

/** The parcels that are there, in the order of rows. */
export function placedParcels({ height, parcels }: TilePlan): PlacedParcel[] {
  return parcels.flatMap((parcel, i) =>
    parcel
      ? [{ ...parcel, x: PLAN_CORNER.minX + Math.floor(i / height), y: PLAN_CORNER.maxY - (i % height) }]
      : [],
  )
}

/** The flat arrays for a plan, as the state would lay them out. */
export function sourceOf(plan: TilePlan): TileSource {
  const placed = placedParcels(plan)
  const bounds = {
    minX: PLAN_CORNER.minX,
    maxX: PLAN_CORNER.minX + plan.width - 1,
    minY: PLAN_CORNER.maxY - plan.height + 1,
    maxY: PLAN_CORNER.maxY,
  }
  const rowAt = new Int32Array(plan.width * plan.height).fill(-1)
  for (const [row, coord] of placed.entries()) rowAt[cellOf(bounds, coord)] = row
  const offers = new OfferList()
  const ofEstate = plan.estates.map((estate) => offers.add(estate))
  const parcelOwners = ownersOf(placed.map((one) => one.owner))
  const estateOwners = ownersOf(plan.estates.map((one) => one.owner))
  const estate = Int32Array.from(placed, (one) => one.estate ?? -1)
  const district = Int16Array.from(placed, (one) => one.district ?? -1)
  const districtKinds = Uint8Array.from(plan.districts, (kind: Kind) => KINDS[kind])
  return {
    bounds,
    cells: layTileCells({ bounds, rowAt, estate, district, owner: parcelOwners.owner, districtKinds }),
    rentals: { ofParcel: new Map(), ofEstate: new Map() },
    offers: Int32Array.from(placed, (one) => {
      const own = offers.add(one)
      const shared = one.estate === undefined ? -1 : ofEstate[one.estate]!
      return shared >= 0 ? shared : own
    }),
    districts: {
      ids: plan.districts.map((_, i) => `district ${i}`),
      names: plan.districts.map((kind, i) => `${kind} ${i}`),
    },
    registries: REGISTRIES,
    openPrice: offers.prices,
    openExpiresAtMs: Float64Array.from(offers.expiries),
    parcels: {
      x: Int32Array.from(placed, ({ x }) => x),
      y: Int32Array.from(placed, ({ y }) => y),
      inWorld: placed.length,
      rowAt,
      estate,
      estatePosition: new Int32Array(placed.length),
      orphans: [],
      district,
      ...parcelOwners,
      names: placed.map((one) => one.name),
      updatedAtS: pagedColumn(Uint32Array.from(placed, (one) => one.updatedAtS)),
      plazaDistance: new Uint8Array(placed.length).fill(NO_DISTANCE),
      roadDistance: new Uint8Array(placed.length).fill(NO_DISTANCE),
      offers: { first: new Int32Array(placed.length).fill(-1) },
      rents: buildRents([]),
    },
    estates: {
      ids: plan.estates.map((_, i) => String(i + 1)),
      size: new Uint32Array(plan.estates.length),
      ...estateOwners,
      names: plan.estates.map((one) => one.name),
      updatedAtS: pagedColumn(Uint32Array.from(plan.estates, (one) => one.updatedAtS)),
      offers: { first: new Int32Array(plan.estates.length).fill(-1) },
      rents: buildRents([]),
    },
  }
}

class OfferList {
  readonly prices: string[] = []
  readonly expiries: number[] = []

  add({ offer: one }: PlannedOffer): number {
    if (!one) return -1
    this.expiries.push(one.expiresAtMs)
    return this.prices.push(one.price) - 1
  }
}

function ownersOf(owners: readonly (string | undefined)[]) {
  const index = new OwnerIndexWriter()
  for (const [row, one] of owners.entries()) index.add(one ?? null, row)
  const written = index.finish()
  return { owners: written, owner: ownerOfRows(written, owners.length) }
}
