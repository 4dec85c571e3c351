import { manaText } from './amounts.ts'
import { moveBids } from './bids.ts'
import { describedColumns } from './data-text.ts'
import { moveListings } from './listings.ts'
import { changeAsset, coordOf, estateOf, NOT_RENTED, parcelAt, ZERO_ADDRESS } from './new-rows.ts'
import { putMemberRights, rightsOverEstate, rightsOverParcel } from './rights.ts'
import type { Fact, Step } from './rule-context.ts'

/**
 * The token of a parcel or an estate has another holder. Registries clear both operators without a log. The estate of a
 * parcel stays: joining and leaving are logged for themselves, before or after the transfer.
 */
export async function transferAsset(step: Step, { asset, to }: Fact<'asset-transferred'>): Promise<void> {
  const { rows, at } = step
  const change = {
    operator: null,
    update_operator: null,
    ...NOT_RENTED,
    last_transferred_at_ms: at.timeMs,
    updated_at_ms: at.timeMs,
  }
  if (asset.type === 'parcel') {
    const parcel = { ...(await parcelAt(step, coordOf(asset.id))), ...change, owner: to }
    rows.put('parcel', { ...parcel, ...(await rightsOverParcel(step, parcel)) })
  } else {
    const estate = { ...(await estateOf(step, asset.id)), ...change, owner: to ?? ZERO_ADDRESS }
    const rights = await rightsOverEstate(step, estate)
    rows.put('estate', { ...estate, ...rights })
    await putMemberRights(step, asset.id, rights)
  }
  await moveListings(step, asset, to)
  await moveBids(step, asset, to)
}

export async function describeAsset(step: Step, { asset, text }: Fact<'asset-described'>): Promise<void> {
  await changeAsset(step, asset, (before) => describedColumns(text, before))
}

/** Who may do with this one asset what its owner may. */
export async function setOperator(step: Step, { asset, operator }: Fact<'operator-set'>): Promise<void> {
  await changeAsset(step, asset, () => ({ operator }))
}

/** Who may change what is built on this one asset. */
export async function setUpdateOperator(
  step: Step,
  { asset, operator }: Fact<'update-operator-set'>,
): Promise<void> {
  await changeAsset(step, asset, () => ({ update_operator: operator }))
}

/** What the project sold a parcel for. The transfers of the parcels are logged for themselves. */
export async function auctionParcels(
  step: Step,
  { parcels, buyer, priceWei }: Fact<'parcels-auctioned'>,
): Promise<void> {
  const { rows, at } = step
  for (const coord of parcels) {
    const parcel = await parcelAt(step, coord)
    rows.put('parcel', {
      ...parcel,
      auction_price: manaText(priceWei),
      auction_owner: buyer,
      updated_at_ms: at.timeMs,
    })
  }
}
