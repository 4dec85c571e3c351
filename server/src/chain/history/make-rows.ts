import { SECOND_MS } from '../../clock.ts'
import { isOfChain, readPositionRow } from '../../land/changes/chain-position.ts'
import { MemoryRows } from '../../land/events/memory-rows.ts'
import { bareGround, type Ground, readGround } from '../../land/snapshot/ground.ts'
import { findGroundOfWorld, readGroundOfWorld } from '../../land/snapshot/ground-of-world.ts'
import type { BlockHeader } from '../chain-types.ts'
import { registriesOf } from '../networks/registries-of.ts'
import { assertParcelCount } from './complete-rows.ts'
import { ContractAnswers } from './contract-answers.ts'
import { fetchUpToDate } from './fetch-up-to-date.ts'
import type { HistoryFetcher } from './history-fetcher.ts'
import type { HistoryOptions } from './history-options.ts'
import { chainOf } from './network-part.ts'
import { replay } from './replay.ts'
import { readSilentOperators } from './silent-operators.ts'
import { answersPath } from './spool-place.ts'
import type { TokenTrail } from './token-trail.ts'

/** All rows of a world after a block that is final. */
export interface MadeRows {
  readonly block: BlockHeader
  readonly rows: MemoryRows
  readonly ground: Pick<Ground, 'districts' | 'contributions'>
}

interface MakeOptions {
  readonly fetcher: HistoryFetcher
  /** The world that is shown, null for none. */
  readonly worldId: number | null
  readonly trail: TokenTrail
}

/**
 * Requests the logs that are not stored, applies all of them meanwhile, and adds what only contracts know.
 *
 * @throws {MissingLogsError} where a node has left out logs
 * @throws {CommandError} where the node or the ground cannot be used
 */
export async function makeRows(
  options: HistoryOptions,
  { fetcher, worldId, trail }: MakeOptions,
): Promise<MadeRows> {
  const { rows, ground } = await beginning(options, worldId)
  const answers = new ContractAnswers(answersPath(options), options)
  try {
    const block = await fetchAndReplay(options, { fetcher, rows, trail, answers })
    assertParcelCount(await options.source.parcelCount(block), trail, block)
    await readOperators(options, { rows, trail, answers, block })
    return { block, rows, ground }
  } finally {
    await answers.close()
  }
}

/** The rows of the ground, and what events do not change. */
async function beginning(
  options: HistoryOptions,
  worldId: number | null,
): Promise<Pick<MadeRows, 'rows' | 'ground'>> {
  // The list of parcels is not kept: events replace most of its rows.
  const { parcels, districts, contributions } = await groundOf(options, worldId)
  const rows = new MemoryRows()
  for (const parcel of parcels) rows.put('parcel', parcel)
  return { rows, ground: { districts, contributions } }
}

/**
 * Without a snapshot, what no log says is taken from the world that is shown: else a world that was made with one would
 * lose it when it is replaced. Not where that world is of another chain.
 */
async function groundOf(options: HistoryOptions, worldId: number | null): Promise<Ground> {
  const { db, ground, isRebuild, world, network, signal, log } = options
  if (ground !== undefined) return readGround(ground, { world, registries: registriesOf(network), signal })
  if (worldId === null) return bareGround(world, 0)
  if (isRebuild) return readGroundOfWorld(db, worldId, world)
  const position = await readPositionRow(db)
  const isUsable = !position || isOfChain(position, chainOf(network))
  const shown = isUsable ? await findGroundOfWorld(db, worldId, world) : undefined
  if (!shown) return bareGround(world, 0)
  log(
    `there is no --ground: ${shown.districts.length} districts, what is near a parcel, the first auction and ${shown.contributions.length} contributions are taken from the world that is shown`,
  )
  return shown
}

interface ReplayParts extends Pick<MadeRows, 'rows'> {
  readonly fetcher: HistoryFetcher
  readonly trail: TokenTrail
  readonly answers: ContractAnswers
}

/** Stores all logs, and applies them to the rows while more of them come. @returns the block at which the rows are */
async function fetchAndReplay(
  options: HistoryOptions,
  { fetcher, rows, trail, answers }: ReplayParts,
): Promise<BlockHeader> {
  const { stored, firstBlock } = fetcher
  let [last, hasFailed] = [Number.POSITIVE_INFINITY, false]
  const replaying = replay(stored, {
    ...options,
    rows,
    trail,
    firstBlock,
    last: () => last,
    eventsOf: (logs) => options.eventsOf(logs, async (call) => (await answers.read(call)).returned),
    onProgress: (block, events) => {
      if (last !== Number.POSITIVE_INFINITY) options.onProgress({ phase: 'replay', block, last, events })
    },
  })
  const fetching = fetchUpToDate({
    lastBlock: () => lastBlockOf(options),
    headerByNumber: options.source.headerByNumber,
    fetchTo: async (block) => {
      const isOld = await mayBeEmpty(options, block)
      // Where the rows cannot be made, another try may have begun meanwhile: it has the fetcher then.
      if (hasFailed) return
      await answers.moveTo(block)
      if (hasFailed || block.number < firstBlock) return
      await fetcher.fetchTo(block.number, isOld)
    },
  })
  try {
    const block = await Promise.race([fetching, replaying.then(() => fetching)])
    last = block.number
    stored.end()
    await replaying
    return block
  } catch (error) {
    hasFailed = true
    stored.fail(error)
    await replaying.catch(() => undefined)
    throw error
  }
}

/** Where the history ends now. */
async function lastBlockOf({ source, until }: HistoryOptions): Promise<BlockHeader> {
  const { finalized } = await source.heads()
  return until >= finalized.number ? finalized : source.headerByNumber(until)
}

/** Full nodes keep the state of so many blocks. */
const BLOCKS_WITH_STATE = 128

async function mayBeEmpty({ source }: HistoryOptions, { number }: BlockHeader): Promise<boolean> {
  const { finalized } = await source.heads()
  return number < finalized.number - BLOCKS_WITH_STATE
}

interface OperatorParts extends Pick<MadeRows, 'rows' | 'block'> {
  readonly trail: TokenTrail
  readonly answers: ContractAnswers
}

/** Reads update operators that no log tells. */
async function readOperators(
  options: HistoryOptions,
  { rows, trail, answers, block }: OperatorParts,
): Promise<void> {
  const { steadyMs, onProgress } = options
  let shownAtMs = Number.NEGATIVE_INFINITY
  await readSilentOperators(rows, {
    ...options,
    read: (call) => answers.read(call),
    isLogged: (asset) => trail.hasLoggedOperator(asset),
    onProgress: (done, total) => {
      if (steadyMs() - shownAtMs < SECOND_MS && done < total) return
      shownAtMs = steadyMs()
      onProgress({ phase: 'contracts', block: block.number, done, total })
    },
  })
}
