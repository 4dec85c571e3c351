import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type PlacedParcel,
  placedParcels,
  sourceOf,
  type TilePlan,
  tilePlan,
} from '../../../test/support/land/tile-plans.ts'
import { JOINS_LEFT, JOINS_TOP, JOINS_TOP_LEFT } from '../../state/parts/tile-cells.ts'
import { isSameTile, tileAt } from './tile-source.ts'

test('a tile has the known fields of its estate, or else of its parcel', () => {
  fc.assert(
    fc.property(tilePlan, (plan) => {
      const source = sourceOf(plan)
      for (const [row, parcel] of placedParcels(plan).entries()) {
        const estate = parcel.estate === undefined ? undefined : plan.estates[parcel.estate]
        const offer = estate?.offer ?? parcel.offer
        expect(tileAt(source, row)).toEqual({
          x: parcel.x,
          y: parcel.y,
          kind: kindOf(plan, parcel),
          joins: expect.any(Number),
          updatedAtS: Math.max(parcel.updatedAtS, estate?.updatedAtS ?? 0),
          name: estate?.name ?? parcel.name,
          districtId: parcel.district === undefined ? undefined : `district ${parcel.district}`,
          districtName:
            parcel.district === undefined
              ? undefined
              : `${plan.districts[parcel.district]} ${parcel.district}`,
          estateId: estate && String(parcel.estate! + 1),
          owner: estate ? estate.owner : parcel.owner,
          price: offer?.price,
          expiresAtS: offer && Math.floor(offer.expiresAtMs / 1000),
          registries: source.registries,
        })
      }
    }),
  )
})

test('tiles join neighbours in the same estate, or in the same district if neither is in an estate', () => {
  fc.assert(
    fc.property(tilePlan, (plan) => {
      const source = sourceOf(plan)
      const placed = placedParcels(plan)
      const at = new Map(placed.map((parcel) => [`${parcel.x},${parcel.y}`, parcel]))
      for (const [row, parcel] of placed.entries()) {
        const { joins } = tileAt(source, row)
        const isJoined = (dx: number, dy: number) =>
          belong(parcel, at.get(`${parcel.x + dx},${parcel.y + dy}`))
        expect((joins & JOINS_TOP) !== 0, 'north').toBe(isJoined(0, 1))
        expect((joins & JOINS_LEFT) !== 0, 'west').toBe(isJoined(-1, 0))
        expect((joins & JOINS_TOP_LEFT) !== 0, 'north-west').toBe(isJoined(-1, 1))
      }
    }),
  )
})

test('tiles of two worlds are the same exactly when all their fields are equal', () => {
  const seen = { same: 0, other: 0 }
  fc.assert(
    fc.property(changedPlans(), ([before, now]) => {
      const [a, b] = [sourceOf(before), sourceOf(now)]
      for (let row = 0; row < a.parcels.x.length; row++) {
        const isSame = isSameTile(a, b, row)
        // A tile has the expiry in seconds, the source in milliseconds, so its comparison may be stricter
        if (isSame) expect(tileAt(b, row)).toEqual(tileAt(a, row))
        else if (secondsAreWhole(before) && secondsAreWhole(now))
          expect(tileAt(b, row)).not.toEqual(tileAt(a, row))
        seen[isSame ? 'same' : 'other'] += 1
      }
    }),
    { numRuns: 300 },
  )
  expect(Math.min(seen.same, seen.other), JSON.stringify(seen)).toBeGreaterThan(100)
})

/** A plan, and the same one with some parcels and estates exchanged for those of another. */
function changedPlans(): fc.Arbitrary<[TilePlan, TilePlan]> {
  return fc.tuple(tilePlan, fc.infiniteStream(fc.nat(5)), tilePlan).map(([plan, dice, other]) => {
    const [otherParcel] = other.parcels.filter((parcel) => parcel !== undefined)
    const roll = () => dice.next().value as number
    const parcels = plan.parcels.map((parcel) =>
      parcel && otherParcel && roll() === 0 ? otherParcel : parcel,
    )
    const estates = plan.estates.map((estate, i) => (roll() === 0 ? other.estates[i]! : estate))
    return [plan, { ...plan, parcels, estates }]
  })
}

function secondsAreWhole({ parcels, estates }: TilePlan): boolean {
  return [...parcels, ...estates].every((one) => (one?.offer?.expiresAtMs ?? 0) % 1000 === 0)
}

function kindOf(plan: TilePlan, { district, owner }: PlacedParcel): string {
  if (district !== undefined) return plan.districts[district]!
  return owner === undefined ? 'unowned' : 'owned'
}

function belong(parcel: PlacedParcel, neighbour: PlacedParcel | undefined): boolean {
  if (!neighbour) return false
  if (parcel.estate !== undefined) return neighbour.estate === parcel.estate
  return (
    neighbour.estate === undefined && parcel.district !== undefined && neighbour.district === parcel.district
  )
}
