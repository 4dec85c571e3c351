import { deadlineMs, manaText, weiOf } from '../../land/events/amounts.ts'
import type { CheckedPublication } from '../../land/queries/checked-land.ts'
import type { CheckContext, Token } from './check-context.ts'
import { type Order, readStoredOrders } from './stored-orders.ts'

/**
 * Compares what the marketplaces store for a parcel or an estate. A marketplace keeps a listing whose asset has left its
 * seller: it can be bought again when the asset returns.
 *
 * @param holder the owner according to the registry; null where there is none
 */
export async function checkPublications(
  context: CheckContext,
  { token, holder }: { readonly token: Token; readonly holder: string | null },
): Promise<void> {
  const { Marketplace, LegacyMarketplace } = context.network.contracts
  const { rows, findings } = context
  const ofAsset = rows.publicationsOf(token.name)
  for (const { marketplace_address: marketplace } of ofAsset)
    if (marketplace !== Marketplace?.address && marketplace !== LegacyMarketplace?.address)
      findings.skip('publication')
  for (const { marketplace, order } of await readStoredOrders(token, context)) {
    const inTable = ofAsset.filter((one) => one.marketplace_address === marketplace)
    if (order) compareOrder(context, { token, holder, marketplace, inTable, order })
    else for (const _ of inTable) findings.skip('publication')
  }
}

interface Compared {
  readonly token: Token
  readonly holder: string | null
  readonly marketplace: string
  readonly inTable: readonly CheckedPublication[]
  readonly order: Order
}

function compareOrder({ findings }: CheckContext, compared: Compared): void {
  const { token, holder, marketplace, inTable, order } = compared
  const { asset } = token
  const isThere = BigInt(order.id) !== 0n
  const stored = inTable.filter(isStored)
  const row = stored.findLast(({ contract_id }) => isThere && contract_id === order.id) ?? stored.at(-1)
  for (const other of stored)
    if (other !== row)
      findings.compare(
        { asset, field: 'publication', of: marketplace },
        { table: other.contract_id, contract: null },
      )
  if (!row || !isThere) {
    const values = { table: row?.contract_id ?? null, contract: isThere ? order.id : null }
    if (!row && isThere && isUnknown(compared)) findings.skip('publication')
    else findings.compare({ asset, field: 'publication', of: marketplace }, values)
    return
  }
  const compare = (field: string, table: string | number, contract: string | number) =>
    findings.compare({ asset, field: `publication.${field}`, of: marketplace }, { table, contract })
  compare('contract_id', row.contract_id, order.id)
  compare('owner', row.owner, order.seller)
  compare('price', manaText(weiOf(row.price)), manaText(order.priceWei))
  compare('expires_at_ms', row.expires_at_ms, deadlineMs(order.expiresAt))
  compare('status', row.status, order.seller === holder ? 'open' : 'cancelled')
}

function isStored({ status, closed_by }: CheckedPublication): boolean {
  return status === 'open' || closed_by === 'moved'
}

/** Whether a snapshot has the listing as closed and does not say why, and its asset is with somebody else. */
function isUnknown({ inTable, order, holder }: Compared): boolean {
  return order.seller !== holder && inTable.some(({ contract_id }) => contract_id === order.id)
}
