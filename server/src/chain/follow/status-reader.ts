import { type Clock, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { type PositionRow, readChainStanding } from '../../land/changes/chain-position.ts'
import type { HeldNotice } from '../../land/changes/history-notice.ts'
import { RecentStatus } from '../../work/recent-status.ts'
import type { Network } from '../chain-types.ts'
import { type Completeness, parseCompleteness, shownCompleteness } from '../check/completeness.ts'
import type { ChainState, ChainStatus, ChainStatusSource } from './chain-status.ts'
import { HolderWatch } from './holder.ts'

/** What the process that follows writes with its lease, so that every process can answer for it. */
export interface SharedStatus {
  readonly network: string
  readonly head: { readonly number: number; readonly timeS: number } | null
  /** Why the land is not followed further; null while it is. */
  readonly reason: string | null
  /** Set while steps fail. */
  readonly failure: FollowFailure | null
  /** Why the land is late although steps do not fail. */
  readonly problem: string | null
}

/** Steps that fail are tried again, until a node answers. */
export interface FollowFailure {
  /** Without secrets: everyone may read it. */
  readonly message: string
  /** When the first of the steps failed that have failed in a row. */
  readonly sinceMs: number
  /** When a node last said which block is its newest; null before the first time. */
  readonly answeredAtMs: number | null
  /** Whether the nodes have wrong addresses: no later step helps. */
  readonly isLasting: boolean
}

/** What this process does where it does not follow: it reads the history, or cannot. */
export interface OwnState {
  readonly state: ChainState
  readonly reason: string
}

export interface StatusReaderOptions {
  readonly db: Db
  readonly clock: Clock
  /** Undefined where this process does not follow. */
  readonly network?: Network | undefined
  readonly ownState?: (() => OwnState | undefined) | undefined
}

/** How long steps may fail before that is shown: most failures are over with the next step. */
const SHOWN_AFTER_MS = MINUTE_MS

const OFF: OwnState = { state: 'off', reason: 'The land does not come from the chain.' }

/** Reads where the world stands, whichever process follows it. */
export class StatusReader extends RecentStatus<ChainStatus> implements ChainStatusSource {
  private readonly options: StatusReaderOptions
  private readonly holders = new HolderWatch()

  constructor(options: StatusReaderOptions) {
    super()
    this.options = options
  }

  protected async readNow(): Promise<ChainStatus> {
    const { db, clock, network, ownState } = this.options
    const { position, histories } = await readChainStanding(db)
    // A process of this machine that was killed is known to have ended before its lease does.
    const history = histories.find(({ holder }) => !this.holders.hasEnded(holder))
    const own = ownState?.()
    if (position) return statusOf(position, { nowMs: clock.nowMs(), history, own })
    return {
      network: network?.name ?? history?.network ?? null,
      chainId: network?.chainId ?? history?.chainId ?? null,
      block: null,
      finalized: null,
      node: null,
      completeness: null,
      ...(readingState(own, history) ?? own ?? OFF),
    }
  }
}

/** What is known beside the position. */
export interface StatusFacts {
  readonly nowMs: number
  /** The process that reads the history, if any does. */
  readonly history?: HeldNotice | undefined
  /** What the process itself does, where it does not follow. */
  readonly own: OwnState | undefined
}

/**
 * The status of a world that has a position. While any process follows, that is its state: a process that cannot follow by
 * itself, or that reads the history for another world, does not hide it.
 */
export function statusOf(position: PositionRow, { nowMs, history, own }: StatusFacts): ChainStatus {
  const block = position.newest
  const shared = position.status === undefined ? undefined : (JSON.parse(position.status) as SharedStatus)
  const completeness = shownCompleteness(parseCompleteness(position.completeness))
  const state = stateOf(position, shared, { nowMs, completeness })
  return {
    network: shared?.network ?? null,
    chainId: position.chainId,
    block: {
      number: block.number,
      hash: block.hash,
      time: new Date(block.timeS * SECOND_MS).toISOString(),
    },
    finalized: { number: position.finalized.number, hash: position.finalized.hash },
    node: shared?.head && isHeadNew(position, shared, nowMs) ? nodeOf(shared.head, block) : null,
    completeness,
    ...(state.state === 'following' || state.state === 'differs'
      ? state
      : (readingState(own, history) ?? (isLed(position, nowMs) ? state : (own ?? state)))),
  }
}

/** How far the history is, where this process or another one reads it. A process knows its own progress first. */
function readingState(own: OwnState | undefined, history: HeldNotice | undefined): OwnState | undefined {
  if (own?.state === 'history') return own
  return history && { state: 'history', reason: history.progress }
}

/** Whether a process asks nodes for their newest block, and one has answered not long ago. */
function isHeadNew(position: PositionRow, { failure }: SharedStatus, nowMs: number): boolean {
  if (!isLed(position, nowMs)) return false
  return !failure || nowMs - (failure.answeredAtMs ?? failure.sinceMs) < SHOWN_AFTER_MS
}

function isLed({ holder, leaseUntilMs }: PositionRow, nowMs: number): boolean {
  return holder !== undefined && leaseUntilMs > nowMs
}

function stateOf(
  position: PositionRow,
  shared: SharedStatus | undefined,
  { nowMs, completeness }: { readonly nowMs: number; readonly completeness: Completeness },
): Pick<ChainStatus, 'state' | 'reason'> {
  if (shared?.reason) return { state: 'stopped', reason: shared.reason }
  if (isLed(position, nowMs)) {
    const problem = shared?.problem ? `The land is late: ${shared.problem}.` : null
    const reason = failureText(shared?.failure, nowMs) ?? problem
    if (completeness.state !== 'differs') return { state: 'following', reason }
    return { state: 'differs', reason: reason ?? differenceOf(completeness) }
  }
  return {
    state: 'off',
    reason: 'No process follows the chain now: start landpass follow, or set CHAIN_RPC_URLS.',
  }
}

function differenceOf({ differing, assets }: Completeness): string {
  const more = differing > assets.length ? `, and ${differing - assets.length} more` : ''
  return `The land is not what the contracts say: ${assets.join(', ')}${more}. The log of the server has the details. Check the nodes, then read the history again from another one: landpass follow --new-world.`
}

function failureText(failure: FollowFailure | null | undefined, nowMs: number): string | null {
  if (!failure) return null
  const { message, sinceMs, answeredAtMs, isLasting } = failure
  const since = Math.min(sinceMs, answeredAtMs ?? sinceMs)
  if (nowMs - since < SHOWN_AFTER_MS && !isLasting) return null
  return `The chain cannot be followed since ${new Date(sinceMs).toISOString()}, which is tried again: ${message}`
}

function nodeOf(
  head: NonNullable<SharedStatus['head']>,
  block: PositionRow['newest'],
): NonNullable<ChainStatus['node']> {
  return {
    // Blocks may have been applied since the head was written.
    head: Math.max(head.number, block.number),
    lagBlocks: Math.max(head.number - block.number, 0),
    lagSeconds: Math.max(head.timeS - block.timeS, 0),
  }
}
