import { type Clock, SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { type ChainPosition, readChainPosition } from '../../land/changes/chain-position.ts'
import type { BlockHeader, Network } from '../chain-types.ts'
import type { ChainState, ChainStatus, ChainStatusSource } from './chain-status.ts'

/** What the process that follows writes with its lease, so that every process can answer for it. */
export interface SharedStatus {
  readonly network: string
  readonly head: { readonly number: number; readonly timeS: number } | null
  /** Why the land is not followed further; null while it is. */
  readonly reason: string | null
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

/** How old an answer may be, so that many clients do not make many queries. */
const MAX_AGE_MS = 1_000

const OFF: OwnState = { state: 'off', reason: 'The land does not come from the chain.' }

/** Reads where the world stands, whichever process follows it. */
export class StatusReader implements ChainStatusSource {
  private readonly options: StatusReaderOptions
  private last: { readonly status: Promise<ChainStatus>; readonly atMs: number } | undefined
  private known: ChainStatus | undefined

  constructor(options: StatusReaderOptions) {
    this.options = options
  }

  readonly read = (): Promise<ChainStatus> => {
    const atMs = performance.now()
    if (this.last && atMs - this.last.atMs < MAX_AGE_MS) return this.last.status
    const status = this.readNow()
    this.last = { status, atMs }
    status.then(
      (known) => {
        this.known = known
      },
      () => {
        this.last = undefined
      },
    )
    return status
  }

  /** What was read last, without waiting for the database; undefined before the first time. It is read again meanwhile. */
  lastRead(): ChainStatus | undefined {
    void this.read().catch(() => undefined)
    return this.known
  }

  private async readNow(): Promise<ChainStatus> {
    const { db, clock, network, ownState } = this.options
    const position = await readChainPosition(db)
    const own = ownState?.()
    if (position) return statusOf(position, { nowMs: clock.nowMs(), own })
    return {
      network: network?.name ?? null,
      chainId: network?.chainId ?? null,
      block: null,
      finalized: null,
      node: null,
      ...(own ?? OFF),
    }
  }
}

/**
 * The status of a world that has a position.
 *
 * @param own what the process itself does, where it does not follow
 */
export function statusOf(
  position: ChainPosition,
  { nowMs, own }: { readonly nowMs: number; readonly own: OwnState | undefined },
): ChainStatus {
  const block = position.blocks.at(-1)!
  const shared = position.status === undefined ? undefined : (JSON.parse(position.status) as SharedStatus)
  return {
    network: shared?.network ?? null,
    chainId: position.chainId,
    block: {
      number: block.number,
      hash: block.hash,
      time: new Date(block.timeS * SECOND_MS).toISOString(),
    },
    finalized: { number: position.finalized.number, hash: position.finalized.hash },
    node: shared?.head ? nodeOf(shared.head, block) : null,
    ...(own ?? stateOf(position, shared, nowMs)),
  }
}

function stateOf(
  { holder, leaseUntilMs }: ChainPosition,
  shared: SharedStatus | undefined,
  nowMs: number,
): Pick<ChainStatus, 'state' | 'reason'> {
  if (shared?.reason) return { state: 'stopped', reason: shared.reason }
  if (holder !== undefined && leaseUntilMs > nowMs) return { state: 'following', reason: null }
  return {
    state: 'off',
    reason: 'No process follows the chain now: start landpass follow, or set CHAIN_RPC_URLS.',
  }
}

function nodeOf(
  head: NonNullable<SharedStatus['head']>,
  block: BlockHeader,
): NonNullable<ChainStatus['node']> {
  return {
    head: head.number,
    lagBlocks: Math.max(head.number - block.number, 0),
    lagSeconds: Math.max(head.timeS - block.timeS, 0),
  }
}
