import type { Coord } from '@landpass/client/grid'
import { ZERO_ADDRESS } from '../records/assets.ts'
import { manaText } from './amounts.ts'
import { moveBids } from './bids.ts'
import { withText } from './data-text.ts'
import { type Awaitable, type EstateRow, type ParcelRow, whenRead } from './land-rows.ts'
import { moveListings } from './listings.ts'
import { changeAsset, coordOf, estateOf, parcelAt } from './new-rows.ts'
import { putMemberRights, type RightColumns, rightsOverEstate, rightsOverParcel } from './rights.ts'
import type { Fact, Step } from './rule-context.ts'

/**
 * The token of a parcel or an estate has another holder. Registries clear both operators without a log. The estate of a
 * parcel stays: joining and leaving are logged for themselves, before or after the transfer.
 */
export function transferAsset(step: Step, { asset, to }: Fact<'asset-transferred'>): Awaitable<void> {
  const transferred =
    asset.type === 'parcel'
      ? transferParcel(step, coordOf(asset.id), to)
      : transferEstate(step, asset.id, to ?? ZERO_ADDRESS)
  return whenRead(transferred, () => whenRead(moveListings(step, asset, to), () => moveBids(step, asset, to)))
}

function transferParcel(step: Step, coord: Coord, owner: string | null): Awaitable<void> {
  return whenRead(parcelAt(step, coord), (before) => {
    const { estate_id } = before
    return whenRead(rightsOverParcel(step, { estate_id, holder: null, owner }), (rights) =>
      step.rows.put('parcel', withOwner(before, { owner, rights, timeMs: step.at.timeMs })),
    )
  })
}

async function transferEstate(step: Step, id: string, owner: string): Promise<void> {
  const before = await estateOf(step, id)
  const rights = await rightsOverEstate(step, { holder: null, owner })
  step.rows.put('estate', withOwner(before, { owner, rights, timeMs: step.at.timeMs }))
  await putMemberRights(step, id, rights)
}

function withOwner<Row extends ParcelRow | EstateRow>(
  row: Row,
  { owner, rights, timeMs }: { owner: Row['owner']; rights: RightColumns; timeMs: number },
): Row {
  return {
    ...row,
    owner,
    operator: null,
    update_operator: null,
    holder: null,
    tenant: null,
    rented_until_ms: null,
    last_transferred_at_ms: timeMs,
    approvals_for_all: rights.approvals_for_all,
    update_managers: rights.update_managers,
    updated_at_ms: timeMs,
  }
}

export function describeAsset(step: Step, { asset, text }: Fact<'asset-described'>): Awaitable<void> {
  return changeAsset(step, asset, (row) => withText(row, text, step.at.timeMs))
}

/** Who may do with this one asset what its owner may. */
export function setOperator(step: Step, { asset, operator }: Fact<'operator-set'>): Awaitable<void> {
  return changeAsset(step, asset, (row) => ({ ...row, operator, updated_at_ms: step.at.timeMs }))
}

/** Who may change what is built on this one asset. */
export function setUpdateOperator(
  step: Step,
  { asset, operator }: Fact<'update-operator-set'>,
): Awaitable<void> {
  return changeAsset(step, asset, (row) => ({
    ...row,
    update_operator: operator,
    updated_at_ms: step.at.timeMs,
  }))
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
      auctioned_at_ms: at.timeMs,
      auction_block_number: at.blockNumber,
      auction_tx_hash: at.txHash,
      auction_log_index: at.logIndex,
      updated_at_ms: at.timeMs,
    })
  }
}
