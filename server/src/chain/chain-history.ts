import { type Clock, SECOND_MS, steadyMs } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { Db } from '../db/engine.ts'
import type { RuleContext } from '../land/events/rule-context.ts'
import type { BlockHeader, Network } from './chain-types.ts'
import { contractsAt } from './check/contracts-at.ts'
import type { ChainSource } from './follow/chain-source.ts'
import { readEvents } from './follow/event-reader.ts'
import type { LoanReader } from './follow/loan-reader.ts'
import { expectedCallsText } from './history/expected-calls.ts'
import type { OpenFetcher } from './history/history-fetcher.ts'
import type { HistoryOptions } from './history/history-options.ts'
import { type HistoryStep, sentenceOf } from './history/history-step.ts'
import { SpoolFetcher } from './history/log-fetcher.ts'
import { NodeHistory } from './history/node-history.ts'
import { readHistory } from './history/read-history.ts'
import type { HistoryReport } from './history/show-world.ts'
import { spoolFolderIn } from './history/spool-place.ts'
import { NO_ANSWER } from './history/stored-answers.ts'
import { ThreadFetcher } from './history/thread-fetcher.ts'
import type { LogTally } from './logs/log-tally.ts'
import type { CallCounters } from './rpc/call-counters.ts'
import { NodeError } from './rpc/node-error.ts'
import type { Nodes } from './rpc/nodes.ts'
import { runWithRetries, withRetries } from './rpc/retries.ts'
import type { Timing } from './rpc/timing.ts'

/** The parts of a chain that read its history. */
export interface ChainHistoryParts {
  readonly config: Pick<Config, 'chain' | 'world' | 'dataDir'>
  readonly db: Db
  readonly insertsAtOnce?: number | undefined
  readonly clock: Clock
  readonly timing: Timing
  readonly signal: AbortSignal
  readonly network: Network
  readonly nodes: Nodes
  readonly calls: CallCounters
  readonly source: ChainSource
  readonly context: RuleContext
  readonly loans: LoanReader
  readonly tally: LogTally
  /** Whether logs are requested in this thread, and not in one of their own. */
  readonly fetchesHere: boolean
  readonly eventsOfBlock: HistoryOptions['eventsOfBlock']
  readonly onSuspectBlocks: (blocks: readonly number[]) => void
  readonly log: (line: string) => void
  /** What everyone may read of an error. */
  readonly publicText: (error: unknown) => string
}

export interface WorldChoice {
  /** See {@link HistoryOptions}. */
  readonly ground: string | undefined
  readonly isRebuild: boolean
  /** Undefined: the last final block. */
  readonly until: number | undefined
}

/** Makes a world of the history of the chain and shows it: see {@link readHistory}. */
export function makeWorld(
  parts: ChainHistoryParts,
  { ground, isRebuild, until }: WorldChoice,
  onProgress: (step: HistoryStep, sentence: string) => void,
): Promise<HistoryReport> {
  const { config, clock, timing, signal, nodes, source, network, tally, loans } = parts
  /** Why it waits; undefined while it goes on. */
  let waitsFor: string | undefined
  const show = (step: HistoryStep) => {
    const reason = step.phase === 'waits' ? step.reason : undefined
    if (reason !== undefined && reason === waitsFor) return
    waitsFor = reason
    onProgress(step, sentenceOf(step))
  }
  const onWaiting = (reason: string) => show({ phase: 'waits', reason })
  const onFailure = (error: unknown) => onWaiting(parts.publicText(error))
  const retries = { timing, signal, onFailure }
  const history = historyOf(parts, onFailure)
  return readHistory({
    ...parts,
    ground,
    isRebuild,
    world: config.world,
    spoolFolder: spoolFolderIn(config.dataDir),
    source: {
      heads: () => withRetries(source.heads, retries),
      headerByNumber: (number) => withRetries(() => source.headerByNumber(number), retries),
      headerByHash: (hash) => withRetries(() => source.headerByHash(hash), retries),
      confirmedLogs: (block: BlockHeader) => withRetries(() => source.confirmedLogs(block), retries),
      logsOfRange: source.logsOfRange,
      parcelCount: history.parcelCount,
    },
    openFetcher: openFetcherOf(parts, history, onWaiting),
    eventsOfBlock: (logs, block) => withRetries(() => parts.eventsOfBlock(logs, block), retries),
    eventsOf: (logs, read) =>
      readEvents(logs, ({ blockTimeS }) => blockTimeS * SECOND_MS, {
        network,
        tally,
        loanTerms: (id) => loans.termsBy(id, read),
      }),
    readContract: (call, blockHash) =>
      runWithRetries(nodes, (node) => node.read(call, blockHash), retries).catch(noAnswerIfReverted),
    contractsAt: (block) =>
      contractsAt(block, { nodes, callsInFlight: config.chain.callsInFlight, ...retries }),
    callsInFlight: config.chain.callsInFlight,
    until: until ?? Number.POSITIVE_INFINITY,
    steadyMs: () => steadyMs(clock),
    onProgress: show,
    onBegin: (blocks) =>
      parts.log(
        expectedCallsText({
          blocks,
          maxRangeBlocks: config.chain.maxRangeBlocks,
          isCompared: nodes.haveTwoHosts,
        }),
      ),
  })
}

function historyOf(
  { config, nodes, network, timing, signal }: ChainHistoryParts,
  onFailure: (error: unknown) => void,
): NodeHistory {
  const { maxRangeBlocks, callsInFlight } = config.chain
  return new NodeHistory({ nodes, network, maxRangeBlocks, callsInFlight, timing, signal, onFailure })
}

function openFetcherOf(
  parts: ChainHistoryParts,
  source: NodeHistory,
  onWaiting: (reason: string) => void,
): OpenFetcher {
  const { config, clock, signal, network, calls: counters, fetchesHere } = parts
  const { nodeUrls: urls, maxRangeBlocks, callsInFlight, finality } = config.chain
  return ({ folder, name, firstBlock }, { onProgress, onSuspectBlocks, onStored, log }) => {
    const place = { folder, name, firstBlock }
    const events = { onProgress, onSuspectBlocks, onStored, log }
    if (fetchesHere)
      return SpoolFetcher.open({
        ...place,
        ...events,
        source,
        network,
        steadyMs: () => steadyMs(clock),
        signal,
      })
    const task = { ...place, urls, network, maxRangeBlocks, callsInFlight, finality }
    return ThreadFetcher.start({ task, counters, signal, onWaiting, ...events })
  }
}

/** A contract that refuses a call has no answer to it. */
function noAnswerIfReverted(error: unknown): string {
  if (error instanceof NodeError && error.kind === 'reverted') return NO_ANSWER
  throw error
}
