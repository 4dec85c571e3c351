import { type Coord, coordText } from '@landpass/client/grid'
import { ZERO_ADDRESS } from '../records/assets.ts'
import { judgeBids } from './bids.ts'
import { withText } from './data-text.ts'
import { fingerprintOf, orderWithout, registryOrder, toggleParcel } from './fingerprints.ts'
import { type Awaitable, type EstateRow, type LandRows, type ParcelRow, whenRead } from './land-rows.ts'
import { estateOf, parcelAt } from './new-rows.ts'
import { putMemberRights, rightsOverEstate, rightsOverParcel } from './rights.ts'
import type { Fact, Step } from './rule-context.ts'

/**
 * The transfer of the new token is logged before its creation, so the row may be there: then its owner is right, because
 * a contract that received the estate may have passed it on before the creation was logged.
 */
export async function createEstate(step: Step, fact: Fact<'estate-created'>): Promise<void> {
  const { rows, at } = step
  const before = await estateOf(step, fact.estateId)
  const owner = before.owner === ZERO_ADDRESS ? (fact.owner ?? ZERO_ADDRESS) : before.owner
  const estate = {
    ...withText(before, fact.text, at.timeMs),
    owner,
    tx_hash: at.txHash,
    last_transferred_at_ms: at.timeMs,
    created_at_ms: at.timeMs,
  }
  const rights = await rightsOverEstate(step, estate)
  const { approvals_for_all, update_managers } = rights
  rows.put('estate', { ...estate, approvals_for_all, update_managers })
  await putMemberRights(step, fact.estateId, rights)
}

/**
 * A parcel becomes the last one of an estate. Its transfer to the registry of estates is logged before or after, and so is
 * its leaving of another estate.
 */
export function joinEstate(
  step: Step,
  { parcel: coord, estateId }: Fact<'parcel-joined-estate'>,
): Awaitable<void> {
  return whenRead(parcelAt(step, coord), (parcel) => {
    const { estate_id: left } = parcel
    if (left === estateId) return
    const hasLeft = left === null ? undefined : changeParcels(step, left, { coord, joins: false })
    return whenRead(hasLeft, () =>
      whenRead(changeParcels(step, estateId, { coord, joins: true }), () =>
        addMember(step, parcel, estateId),
      ),
    )
  })
}

function addMember(step: Step, parcel: ParcelRow, estateId: string): Awaitable<void> {
  return whenRead(step.rows.parcelsOfEstate(estateId), (members) => {
    const estate_position = (members.at(-1)?.estate_position ?? -1) + 1
    // Where a parcel has no owner, the transfer to the registry of estates was lost, or is logged next.
    const owner = parcel.owner ?? step.context.contracts.estateRegistry
    return putMember(step, { ...parcel, owner, estate_id: estateId, estate_position })
  })
}

/** Nothing happens if the parcel has already joined another estate: that is logged first when it is moved directly. */
export function leaveEstate(
  step: Step,
  { parcel: coord, estateId }: Fact<'parcel-left-estate'>,
): Awaitable<void> {
  return whenRead(parcelAt(step, coord), (parcel) => {
    if (parcel.estate_id !== estateId) return
    return whenRead(changeParcels(step, estateId, { coord, joins: false }), () =>
      putMember(step, { ...parcel, estate_id: null, estate_position: null }),
    )
  })
}

function putMember(step: Step, parcel: ParcelRow): Awaitable<void> {
  return whenRead(rightsOverParcel(step, parcel), ({ approvals_for_all, update_managers }) =>
    step.rows.put('parcel', {
      ...parcel,
      approvals_for_all,
      update_managers,
      updated_at_ms: step.at.timeMs,
    }),
  )
}

/** Before the parcel's own row changes: a fingerprint that is unknown is computed from the parcels of the estate. */
function changeParcels(
  step: Step,
  estateId: string,
  { coord, joins }: { readonly coord: Coord; readonly joins: boolean },
): Awaitable<void> {
  const { rows, at } = step
  return whenRead(estateOf(step, estateId), (estate) =>
    whenRead(fingerprintOf(rows, estate), (before) => {
      const fingerprint = toggleParcel(before, coord)
      return whenRead(orderAfter(rows, estate, { coord, joins }), (registry_order) => {
        rows.put('estate', { ...estate, fingerprint, registry_order, updated_at_ms: at.timeMs })
        const parcels = () =>
          whenRead(rows.parcelsOfEstate(estateId), (members) =>
            registryOrder({ registry_order }, joins ? [...members, coord] : without(members, coord)),
          )
        return judgeBids(step, { id: estateId, fingerprint, parcels })
      })
    }),
  )
}

/** Mostly the order in which the parcels joined: nothing is read then for a parcel that joins. */
function orderAfter(
  rows: LandRows,
  estate: EstateRow,
  { coord, joins }: { readonly coord: Coord; readonly joins: boolean },
): Awaitable<string | null> {
  const { registry_order } = estate
  if (joins) return registry_order === null ? null : `${registry_order} ${coordText(coord)}`
  return whenRead(rows.parcelsOfEstate(estate.id), (members) =>
    orderWithout(registryOrder(estate, members), { parcel: coord, members: without(members, coord) }),
  )
}

function without(members: readonly Coord[], { x, y }: Coord): readonly Coord[] {
  return members.filter((member) => member.x !== x || member.y !== y)
}
