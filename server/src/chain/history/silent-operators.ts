import { type Coord, coordText, encodeTokenId } from '@landpass/client/grid'
import { word } from '../../ethereum/words.ts'
import type { EstateRow, ParcelRow } from '../../land/events/land-rows.ts'
import type { MemoryRows } from '../../land/events/memory-rows.ts'
import type { AssetName } from '../../land/records/assets.ts'
import type { Network, RawLog } from '../chain-types.ts'
import { callData, wordOf } from '../follow/loan-terms.ts'
import { landEventsOf } from '../meaning/land-events-of.ts'
import type { NearAnswer } from './read-near.ts'
import { type ContractCall, NO_ANSWER } from './stored-answers.ts'

export interface SilentOperatorOptions {
  readonly network: Network
  /** What a function of a contract returns at the block of the rows, or a little later. */
  readonly read: (call: ContractCall) => Promise<Pick<NearAnswer, 'returned' | 'unsettled'>>
  /** Whether logs say who the update operator is, or that there is none, since the last transfer. */
  readonly isLogged: (asset: AssetName) => boolean
  readonly callsInFlight: number
  readonly signal: AbortSignal
  readonly onProgress: (done: number, total: number) => void
}

/** Until June 2018 parcels got update operators without a log, and a later transfer takes them away. */
const PARCELS_BEFORE_MS = Date.UTC(2018, 6, 1)
/** Until early 2019 a transfer of an estate did not take its update operator away. */
const ESTATES_BEFORE_MS = Date.UTC(2019, 2, 15)

/**
 * From this time on, what a contract answers for an asset that was not transferred since, and of whose update operator there
 * is no log, is the same for ever.
 */
export const SILENT_UNTIL_MS = ESTATES_BEFORE_MS

/**
 * Reads the update operators of which there is no log: of parcels and estates that were not transferred since. Only the first
 * contracts behaved so: networks whose order of arguments never changed have later ones.
 *
 * An asset that was transferred, or whose update operator was logged, in a block that is not final stays as it is:
 * that log is applied next, and what was read may be undone.
 *
 * @returns how many assets were asked for
 */
export async function readSilentOperators(rows: MemoryRows, options: SilentOperatorOptions): Promise<number> {
  const { network, callsInFlight, signal, onProgress } = options
  if (network.landApprovalForAllArgumentOrderChangesAtBlock === 0) return 0
  const { LANDRegistry, EstateRegistry } = network.contracts
  const isSilent = (row: ParcelRow | EstateRow, asset: AssetName, beforeMs: number) =>
    row.update_operator === null &&
    row.last_transferred_at_ms !== null &&
    row.last_transferred_at_ms < beforeMs &&
    !options.isLogged(asset)
  const parcels = rows
    .rowsOf('parcel')
    .filter((row) => row.owner !== null && isSilent(row, parcelName(row), PARCELS_BEFORE_MS))
  const estates = EstateRegistry
    ? rows.rowsOf('estate').filter((row) => isSilent(row, estateName(row), ESTATES_BEFORE_MS))
    : []
  const total = parcels.length + estates.length
  let done = 0
  const show = () => {
    done += 1
    onProgress(done, total)
  }
  await forEach(parcels, callsInFlight, signal, async (parcel) => {
    const call = operatorCall(LANDRegistry.address, encodeTokenId(parcel))
    const update_operator = await operatorOf(call, parcelName(parcel), options)
    if (update_operator !== null) rows.put('parcel', { ...parcel, update_operator })
    show()
  })
  await forEach(estates, callsInFlight, signal, async (estate) => {
    const call = operatorCall(EstateRegistry!.address, BigInt(estate.id))
    const update_operator = await operatorOf(call, estateName(estate), options)
    if (update_operator !== null) rows.put('estate', { ...estate, update_operator })
    show()
  })
  return total
}

function operatorCall(to: string, tokenId: bigint): ContractCall {
  return { to, data: callData('updateOperator(uint256)', tokenId) }
}

async function operatorOf(
  call: ContractCall,
  asset: AssetName,
  { read, network }: SilentOperatorOptions,
): Promise<string | null> {
  const { returned, unsettled } = await read(call)
  return unsettled.some((log) => isAbout(network, log, asset)) ? null : addressOf(returned)
}

/** Whether a log sets or clears the update operator of this asset. */
function isAbout(network: Network, log: RawLog, { type, id }: AssetName): boolean {
  const meaning = landEventsOf(network, log, 0)
  if (meaning.outcome !== 'events') return false
  return meaning.events.some(
    (event) =>
      (event.kind === 'asset-transferred' || event.kind === 'update-operator-set') &&
      event.asset.type === type &&
      event.asset.id === id,
  )
}

function parcelName(parcel: Coord): AssetName {
  return { type: 'parcel', id: coordText(parcel) }
}

function estateName({ id }: EstateRow): AssetName {
  return { type: 'estate', id }
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

/** Null for the zero address, and for contracts that do not have such a function yet. */
function addressOf(returned: string): string | null {
  const value = returned === NO_ANSWER ? 0n : wordOf(returned)
  return value === 0n ? null : `0x${word(value).slice(24)}`
}
