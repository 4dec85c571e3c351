import { MAX_ADDRESSES } from '../records/checks.ts'
import type { Registry } from './land-event.ts'
import {
  type Awaitable,
  type EstateRow,
  type LandRows,
  type ParcelRow,
  type RightRow,
  whenRead,
} from './land-rows.ts'
import { estateOf } from './new-rows.ts'
import type { Fact, Step } from './rule-context.ts'

/** What stands on each asset of an owner: sorted addresses, null where there are none. */
export type RightColumns = Pick<ParcelRow, 'approvals_for_all' | 'update_managers'>

const NO_RIGHTS: RightColumns = { approvals_for_all: null, update_managers: null }

/**
 * Grants or takes back a right over all land of an owner, and writes it on each asset that it is about: those whose
 * token the owner has. A right over estates is about their parcels, too.
 */
export async function setRight(
  step: Step,
  fact: Fact<'approval-for-all-set' | 'update-manager-set'>,
): Promise<void> {
  const { rows } = step
  const { registry, owner, operator, isApproved } = fact
  const kind = fact.kind === 'approval-for-all-set' ? 'approval' : 'manager'
  const right: RightRow = { kind, registry, owner, operator }
  const isGranted = (await rows.rightsOf(registry, owner)).some((one) => isSame(one, right))
  if (isGranted === isApproved) return
  if (isApproved) rows.put('land_right', right)
  else rows.remove('land_right', right)
  const columns = await rightsOf(rows, registry, owner)
  if (registry === 'parcel') {
    for (const parcel of await rows.assetsOf('parcel', owner))
      if (!isRented(parcel) && parcel.estate_id === null) putParcelRights(step, parcel, columns)
  } else {
    for (const estate of await rows.assetsOf('estate', owner))
      if (!isRented(estate)) {
        const { approvals_for_all, update_managers } = columns
        rows.put('estate', { ...estate, approvals_for_all, update_managers, updated_at_ms: step.at.timeMs })
        await putMemberRights(step, estate.id, columns)
      }
  }
}

/** The rights over a parcel: those of its token's holder, or those over the estate that it is in. */
export function rightsOverParcel(
  step: Step,
  parcel: Pick<ParcelRow, 'estate_id' | 'holder' | 'owner'>,
): Awaitable<RightColumns> {
  if (parcel.estate_id === null) return rightsOf(step.rows, 'parcel', parcel.holder ?? parcel.owner)
  return estateOf(step, parcel.estate_id)
}

/** The rights over an estate: those of its token's holder at the registry of estates. */
export function rightsOverEstate(
  { rows }: Step,
  estate: Pick<EstateRow, 'holder' | 'owner'>,
): Awaitable<RightColumns> {
  return rightsOf(rows, 'estate', estate.holder ?? estate.owner)
}

/** Writes the rights over an estate on its parcels. */
export async function putMemberRights(step: Step, estateId: string, columns: RightColumns): Promise<void> {
  for (const parcel of await step.rows.parcelsOfEstate(estateId)) putParcelRights(step, parcel, columns)
}

function putParcelRights({ rows, at }: Step, parcel: ParcelRow, columns: RightColumns): void {
  if (isSameList(parcel.approvals_for_all, columns.approvals_for_all))
    if (isSameList(parcel.update_managers, columns.update_managers)) return
  const { approvals_for_all, update_managers } = columns
  rows.put('parcel', { ...parcel, approvals_for_all, update_managers, updated_at_ms: at.timeMs })
}

function rightsOf(rows: LandRows, registry: Registry, owner: string | null): Awaitable<RightColumns> {
  if (owner === null) return NO_RIGHTS
  return whenRead(rows.rightsOf(registry, owner), (rights) => {
    if (rights.length === 0) return NO_RIGHTS
    return {
      approvals_for_all: operatorsIn(rights, 'approval'),
      update_managers: operatorsIn(rights, 'manager'),
    }
  })
}

/** Not more than a snapshot may have. The rows of `land_right` have them all. */
function operatorsIn(rights: readonly RightRow[], kind: RightRow['kind']): readonly string[] | null {
  const operators = rights.filter((right) => right.kind === kind).map(({ operator }) => operator)
  return operators.length === 0 ? null : operators.sort().slice(0, MAX_ADDRESSES)
}

/** Rented land has the rights of the contract that holds it: the operators of its owner cannot act for that contract. */
function isRented({ holder }: ParcelRow | EstateRow): boolean {
  return holder !== null
}

function isSame(one: RightRow, other: RightRow): boolean {
  return one.kind === other.kind && one.operator === other.operator
}

function isSameList(one: readonly string[] | null, other: readonly string[] | null): boolean {
  if (one === null || other === null) return one === other
  return one.length === other.length && one.every((address, at) => address === other[at])
}
