import { coordText } from '@landpass/client/grid'
import type { CheckedParcel } from '../../land/queries/checked-land.ts'
import { nobodyIfZero } from '../meaning/addresses.ts'
import { checkHolder, checkRights, checkText } from './check-asset.ts'
import { checkBids } from './check-bids.ts'
import { type CheckContext, tokenOf } from './check-context.ts'
import { checkPublications } from './check-publications.ts'
import { FUNCTIONS } from './contract-functions.ts'

/** Compares a parcel, and what is offered for it, with the contracts. */
export async function checkParcel(context: CheckContext, row: CheckedParcel): Promise<void> {
  const { network, state, findings } = context
  const token = tokenOf(network, { type: 'parcel', id: coordText(row) })!
  const { asset, registry, id } = token
  const [ownerOf, estateId, text] = await Promise.all([
    state.read(registry, FUNCTIONS.ownerOf, id),
    estateOf(context, id),
    state.tryToRead(registry, FUNCTIONS.landData, BigInt(row.x), BigInt(row.y)),
  ])
  const holder = nobodyIfZero(ownerOf)
  findings.compare({ asset, field: 'estate_id' }, { table: row.estate_id, contract: estateId })
  checkText(context, { asset, row, text })
  await Promise.all([
    checkHolder(context, { token, row, holder }).then((owner) => checkBids(context, { token, owner })),
    checkPublications(context, { token, holder }),
    checkParcelRights(context, row, { asset, holder, estateId }),
  ])
}

async function estateOf({ network, state }: CheckContext, parcelId: bigint): Promise<string | null> {
  const registry = network.contracts.EstateRegistry?.address
  if (registry === undefined) return null
  const estateId = await state.read(registry, FUNCTIONS.getLandEstateId, parcelId)
  return estateId === 0n ? null : String(estateId)
}

/** The rights over a parcel in an estate are those over the estate. */
async function checkParcelRights(
  context: CheckContext,
  row: CheckedParcel,
  { asset, holder, estateId }: { asset: string; holder: string | null; estateId: string | null },
): Promise<void> {
  if (estateId === null) return checkRights(context, { asset, row, registry: 'parcel', holder })
  const { network, state } = context
  const owner = await state.tryToRead(
    network.contracts.EstateRegistry!.address,
    FUNCTIONS.ownerOf,
    BigInt(estateId),
  )
  await checkRights(context, {
    asset,
    row,
    registry: 'estate',
    holder: owner === undefined ? null : nobodyIfZero(owner),
  })
}
