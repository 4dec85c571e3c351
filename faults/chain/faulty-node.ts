import type { Block } from '@landpass/simulators/chain/blocks/block'
import type { SimulatedChain } from '@landpass/simulators/chain/blocks/chain'
import { RANGE_WORDS } from '@landpass/simulators/chain/node/range-refusals'
import {
  BEYOND_HEAD,
  DEFAULT_SETTINGS,
  type FaultSettings,
  type NodeSettings,
  PRUNED_FORMS,
  RECEIPTS,
} from '@landpass/simulators/chain/node/settings'
import { SimulatedNode } from '@landpass/simulators/chain/node/simulated-node'
import type { Random } from '@landpass/simulators/random'

/** A call of JSON-RPC, as it arrives. */
export interface NodeCall {
  readonly method: string
  readonly params: readonly unknown[]
}

interface Fault {
  readonly settings: Partial<FaultSettings>
  /** Undefined: calls of every method. */
  readonly methods?: readonly string[]
}

const OF_BLOCKS = ['eth_getBlockByNumber', 'eth_getBlockByHash'] as const
const OF_LOGS = ['eth_getLogs'] as const
const FAULT_PERCENT = 5
/** Nothing listens there, and a redirect is not followed anyway. */
const ELSEWHERE = 'http://127.0.0.1:9/'

const FAULTS: readonly Fault[] = [
  { settings: { down: true } },
  { settings: { hang: true } },
  { settings: { drop: true } },
  { settings: { broken_json: true } },
  { settings: { redirect_to: ELSEWHERE } },
  { settings: { pad_bytes: 1_000 } },
  { settings: { rate_limit: 'http' } },
  { settings: { rate_limit: 'http_retry_after', retry_after_s: 3 } },
  { settings: { rate_limit: 'json' } },
  { settings: { rate_limit: 'quota' } },
  { settings: { null_block: true }, methods: [...OF_BLOCKS, 'eth_getBlockReceipts'] },
  { settings: { invented_block: 'next' }, methods: OF_BLOCKS },
  { settings: { invented_block: 'changed' }, methods: OF_BLOCKS },
  { settings: { foreign_log: true }, methods: OF_LOGS },
  { settings: { doubled_log_index: true }, methods: OF_LOGS },
  { settings: { missing_log: true }, methods: OF_LOGS },
  { settings: { missing_log: true }, methods: OF_LOGS },
  { settings: { newest_logs_empty: true }, methods: OF_LOGS },
]

/**
 * Which blocks a node has answered without a log. No node could find out a log that is missing in both of two independent
 * answers, and no follower could: so a block lacks logs either when it is asked for by its hash, or in ranges, never in both.
 */
export class MissingLogs {
  readonly byHash = new Set<string>()
  private readonly inRange = new Set<string>()
  private readonly chain: SimulatedChain
  private readonly hasLogs: (block: Block) => boolean

  constructor(chain: SimulatedChain, hasLogs: (block: Block) => boolean) {
    this.chain = chain
    this.hasLogs = hasLogs
  }

  /** Whether a log may be missing in the answer. It is noted as missing then. @param newest up to which block the follower stands */
  mayHide({ params }: NodeCall, newest: number): boolean {
    const [query] = params as [{ blockHash?: string; fromBlock?: string; toBlock?: string }]
    return query.blockHash === undefined
      ? this.mayHideInRange(Number(query.fromBlock), Number(query.toBlock), newest)
      : this.mayHideInBlock(query.blockHash)
  }

  private mayHideInBlock(hash: string): boolean {
    if (this.inRange.has(hash)) return false
    this.byHash.add(hash)
    return true
  }

  /** Logs of a range are compared with those of its blocks only where the follower has these blocks already. */
  private mayHideInRange(from: number, to: number, newest: number): boolean {
    if (!(to <= newest)) return false
    const blocks: Block[] = []
    for (let number = from; number <= to; number++) {
      const block = this.chain.block(number)
      if (block && this.hasLogs(block)) blocks.push(block)
    }
    if (blocks.some(({ hash }) => this.byHash.has(hash))) return false
    for (const { hash } of blocks) this.inRange.add(hash)
    return true
  }
}

/** A node whose faults are drawn for each call, and whose behaviour changes from time to time. */
export class FaultyNode extends SimulatedNode {
  /** How often each fault was met, by its settings. */
  readonly faults = new Map<string, number>()
  /** Whether faults are drawn. */
  isFaulty = true
  private readonly random: Random
  private readonly own: Partial<NodeSettings>
  private next: Partial<FaultSettings> = {}

  /** @param own settings that stay */
  constructor(chain: SimulatedChain, random: Random, own: Partial<NodeSettings>) {
    super(chain)
    this.random = random
    this.own = own
    this.behaveWell()
  }

  /** Draws what goes wrong with the next call. @param mayHide whether a log may be missing in the answer */
  drawFault(call: NodeCall, mayHide: () => boolean): Partial<FaultSettings> {
    this.next = {}
    if (!this.isFaulty || !this.random.chance(FAULT_PERCENT)) return this.next
    const { settings } = this.random.pick(
      FAULTS.filter(({ methods }) => methods === undefined || methods.includes(call.method)),
    )
    const hides = settings.missing_log === true || settings.newest_logs_empty === true
    if (hides && !mayHide()) return this.next
    const name = JSON.stringify(settings)
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1)
    this.next = settings
    return settings
  }

  override countCall(method: string): NodeSettings {
    return { ...super.countCall(method), ...this.next }
  }

  /** No faults, and the behaviour of a good node. */
  behaveWell(settings: Partial<NodeSettings> = {}): void {
    this.next = {}
    this.change({ ...DEFAULT_SETTINGS, ...this.own, ...settings })
  }

  /** Another kind of node: one that lags, or whose answers are limited, or that does not have all methods. */
  behaveOddly(): void {
    const { random } = this
    const kinds: readonly (() => Partial<NodeSettings>)[] = [
      () => ({ lag_blocks: random.between(1, 5) }),
      () => ({ lag_blocks: random.between(6, 80) }),
      () => ({ frozen: true }),
      () => ({ beyond_head: random.pick(BEYOND_HEAD), lag_blocks: random.below(3) }),
      () => ({ log_timestamps: false }),
      () => ({ keeps_orphans: true }),
      () => ({ capabilities: false, block_receipts: random.pick(RECEIPTS) }),
      () => ({ range_limit: random.between(1, 20), limit_words: random.pick(RANGE_WORDS) }),
      () => ({ result_limit: random.between(150, 300), limit_words: random.pick(RANGE_WORDS) }),
      () => ({ silent_result_limit: 100 }),
      () => ({ batch_limit: random.between(1, 5) }),
      () => ({ chain_id: 5 }),
    ]
    this.behaveWell(random.pick(kinds)())
  }

  /** Has no logs and receipts below a block. */
  prune(below: number): void {
    this.behaveWell({ pruned_below: below, pruned_form: this.random.pick(PRUNED_FORMS) })
  }
}
