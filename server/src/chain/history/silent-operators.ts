import { encodeTokenId } from '@landpass/client/grid'
import type { MemoryRows } from '../../land/events/memory-rows.ts'
import type { Network } from '../chain-types.ts'
import { callData, wordOf } from '../follow/loan-terms.ts'

export interface SilentOperatorOptions {
  readonly network: Network
  /** What a function of a contract returns at the block of the rows. */
  readonly read: (contract: string, data: string) => Promise<string>
  readonly callsInFlight: number
  readonly signal: AbortSignal
}

/** Until June 2018 parcels got update operators without a log, and a later transfer takes them away. */
const PARCELS_BEFORE_MS = Date.UTC(2018, 6, 1)
/** Until early 2019 a transfer of an estate did not take its update operator away. */
const ESTATES_BEFORE_MS = Date.UTC(2019, 2, 15)

/**
 * Reads the update operators that no log tells: of parcels and estates that were not transferred since. Only the first
 * contracts behaved so: networks whose order of arguments never changed have later ones.
 *
 * @returns how many assets were asked for
 */
export async function readSilentOperators(
  rows: MemoryRows,
  { network, read, callsInFlight, signal }: SilentOperatorOptions,
): Promise<number> {
  if (network.landApprovalForAllArgumentOrderChangesAtBlock === 0) return 0
  const { LANDRegistry, EstateRegistry } = network.contracts
  const operatorOf = async (contract: string, tokenId: bigint) =>
    addressOf(await read(contract, callData('updateOperator(uint256)', tokenId)))
  const parcels = rows
    .rowsOf('parcel')
    .filter(
      ({ owner, update_operator, last_transferred_at_ms: atMs }) =>
        owner !== null && update_operator === null && atMs !== null && atMs < PARCELS_BEFORE_MS,
    )
  await forEach(parcels, callsInFlight, signal, async (parcel) => {
    const update_operator = await operatorOf(LANDRegistry.address, BigInt(encodeTokenId(parcel)))
    if (update_operator !== null) rows.put('parcel', { ...parcel, update_operator })
  })
  const estates = EstateRegistry
    ? rows
        .rowsOf('estate')
        .filter(
          ({ update_operator, last_transferred_at_ms: atMs }) =>
            update_operator === null && atMs !== null && atMs < ESTATES_BEFORE_MS,
        )
    : []
  await forEach(estates, callsInFlight, signal, async (estate) => {
    const update_operator = await operatorOf(EstateRegistry!.address, BigInt(estate.id))
    if (update_operator !== null) rows.put('estate', { ...estate, update_operator })
  })
  return parcels.length + estates.length
}

async function forEach<Item>(
  items: readonly Item[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < items.length; at += atOnce) {
    signal.throwIfAborted()
    await Promise.all(items.slice(at, at + atOnce).map(work))
  }
}

/** Null for the zero address. */
function addressOf(returned: string): string | null {
  const word = wordOf(returned)
  return word === 0n ? null : `0x${word.toString(16).padStart(64, '0').slice(24)}`
}
