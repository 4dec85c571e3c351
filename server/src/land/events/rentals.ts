import { DAY_MS } from '../../clock.ts'
import { moveBids } from './bids.ts'
import type { EstateRow, ParcelRow } from './land-rows.ts'
import { assetOf, changeAsset } from './new-rows.ts'
import type { Fact, Step } from './rule-context.ts'

/**
 * A parcel or an estate is rented, or the rent is extended. The contract of the rent has the token; the owner is the
 * lessor, whom only this event names. Listings stay as they are: they cannot be bought before the token returns.
 */
export async function rentAsset(step: Step, fact: Fact<'asset-rented'>): Promise<void> {
  const { asset, lessor, tenant } = fact
  const holder = step.context.contracts.rentals ?? (await holderOf(step, fact))
  await changeAsset(step, asset, (row) => ({
    ...row,
    owner: lessor,
    holder,
    tenant,
    rented_until_ms: endOf(row, fact, step.at.timeMs),
    updated_at_ms: step.at.timeMs,
  }))
  await moveBids(step, asset, lessor)
}

/** The lessor has claimed the token. Its transfer, which is logged before, says who owns it. */
export async function endRent(step: Step, { asset }: Fact<'rent-ended'>): Promise<void> {
  await changeAsset(step, asset, (row) => ({
    ...row,
    holder: null,
    tenant: null,
    rented_until_ms: null,
    updated_at_ms: step.at.timeMs,
  }))
}

async function holderOf(step: Step, { asset }: Fact<'asset-rented'>): Promise<string | null> {
  const { holder, owner } = await assetOf(step, asset)
  return holder ?? owner
}

/** An extension adds to the end of the rent, not to the time of the block. */
function endOf(
  row: ParcelRow | EstateRow,
  { days, isExtension }: Fact<'asset-rented'>,
  nowMs: number,
): number {
  const fromMs = isExtension ? (row.rented_until_ms ?? nowMs) : nowMs
  return Math.min(fromMs + days * DAY_MS, Number.MAX_SAFE_INTEGER)
}
