import type { World } from '@landpass/client/grid'
import type { Clock } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import type { LandEvent } from '../../land/events/land-event.ts'
import type { RuleContext } from '../../land/events/rule-context.ts'
import type { BlockRef, Network } from '../chain-types.ts'
import type { ContractState } from '../check/contract-state.ts'
import type { BlockRange, ChainSource } from '../follow/chain-source.ts'
import type { TimedLog } from '../packed-logs.ts'
import type { Timing } from '../rpc/timing.ts'
import type { HistorySource } from './fetch-history.ts'
import type { OpenFetcher } from './history-fetcher.ts'
import type { HistoryStep } from './history-step.ts'
import type { NewerBlocksOptions } from './newer-blocks.ts'
import type { ReadAtBlock } from './read-near.ts'
import type { ContractCall } from './stored-answers.ts'

/** What a new world is made of, and how. */
export interface HistoryOptions {
  readonly db: Db
  /** Statements that write rows at the same time; 1 where it is left out. */
  readonly insertsAtOnce?: number | undefined
  readonly clock: Clock
  readonly network: Network
  /** The shape of the world. */
  readonly world: World
  /** Folder of a snapshot; undefined: that of the world that is shown or, without any, every parcel, unowned. */
  readonly ground: string | undefined
  /** Whether the world that is shown is made again: then no part of its ground is left out. */
  readonly isRebuild: boolean
  /** Folder for the stored logs. */
  readonly spoolFolder: string
  readonly source: Pick<
    ChainSource,
    'headerByHash' | 'headerByNumber' | 'heads' | 'confirmedLogs' | 'logsOfRange'
  > &
    Pick<HistorySource, 'parcelCount'>
  readonly openFetcher: OpenFetcher
  readonly context: RuleContext
  /** `read` calls a contract near the end of the history. */
  readonly eventsOf: (
    logs: readonly TimedLog[],
    read: (call: ContractCall) => Promise<string>,
  ) => Promise<readonly LandEvent[]>
  readonly eventsOfBlock: NewerBlocksOptions['eventsOfBlock']
  readonly timing: Pick<Timing, 'pause'>
  /** What a function of a contract returns after a block. */
  readonly readContract: ReadAtBlock
  /** Contracts in the state after a block, which many calls are made to. */
  readonly contractsAt: (block: BlockRef) => ContractState
  /** The most calls at a time. */
  readonly callsInFlight: number
  /** The history ends here, or at the last final block where that is older. */
  readonly until: number
  readonly signal: AbortSignal
  readonly steadyMs: () => number
  readonly onProgress: (progress: HistoryStep) => void
  /** Gets once, before they are requested, the blocks whose logs are not stored. */
  readonly onBegin: (blocks: BlockRange) => void
  /** Gets the blocks whose logs may be incomplete. */
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
  /** Writes a line for operators. */
  readonly log: (line: string) => void
}
