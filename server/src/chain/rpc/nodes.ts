import { SECOND_MS } from '../../clock.ts'
import type { BlockRef, RawLog } from '../chain-types.ts'
import { findLogOutsideBloom } from '../proofs/bloom.ts'
import { logsProvenBy } from '../proofs/receipts-root.ts'
import { agreeOnFinal } from './agree-on-final.ts'
import { checkHighest, MAX_LAG_BLOCKS } from './check-highest.ts'
import { MAX_WAIT_MS, RefusedError } from './json-rpc.ts'
import { NoNodeError } from './no-node-error.ts'
import type { EthereumNode } from './node.ts'
import type { NodeHeader } from './node-answers.ts'
import { NodeError } from './node-error.ts'
import { NodeMember } from './node-member.ts'
import { RecentBlocks } from './recent-blocks.ts'
import type { Timing } from './timing.ts'

export interface NodesOptions {
  /** In order of preference. */
  readonly nodes: readonly EthereumNode[]
  readonly chainId: number
  /**
   * A block that all nodes must have: the start block of the land. Without a hash, the most preferred node that has answered
   * decides which one is right.
   */
  readonly startBlock: { readonly number: number; readonly hash?: string | undefined }
  /** A block counts as final where so many follow it; undefined: only what nodes say. */
  readonly finality?: number | undefined
  readonly timing: Timing
  /** Gets, once for each reason, why a check has found that a node cannot be used. Neither text has a secret. */
  readonly onUnusable?: ((shown: string, reason: string) => void) | undefined
  /** Gets, once for each node, that it has left out logs of this block. */
  readonly onOmission?: ((shown: string, block: number) => void) | undefined
  /** Gets, once for each node, that it does not give the receipts of a block. */
  readonly onWithoutReceipts?: ((shown: string) => void) | undefined
}

/** The newest block, and the node that gave it. */
export interface Head {
  readonly node: EthereumNode
  readonly header: NodeHeader
}

/** Logs of a block, and the node that gave them. */
export interface LogsOfBlock {
  readonly node: EthereumNode
  readonly logs: readonly RawLog[]
}

/** Which nodes to ask. */
export interface Choice {
  /** Is asked first: the node that gave the header. */
  readonly from?: EthereumNode | undefined
  /** Is asked last: another node is to confirm its answer. */
  readonly except?: EthereumNode | undefined
}

/** What is known of a node, for metrics and health. */
export interface NodeStatus {
  readonly name: string
  /** Name, scheme and host. */
  readonly shown: string
  /** `refused`: it was of another chain at its last check, and is not used until it is right. */
  readonly state: 'usable' | 'paused' | 'lagging' | 'avoided' | 'refused'
  /** Why the node is refused, or its last problem; for people. */
  readonly reason: string | undefined
}

/** How old the known head of a node may be that is not the best one. */
const OTHER_HEADS_MS = 15 * SECOND_MS

/**
 * Several nodes of one chain. Each is asked for its chain id and its start block before it is used. The best node is the most
 * preferred one that is trusted (`NodeHealth`), not in a pause, and not behind.
 *
 * A node that hangs, breaks or lies is avoided: no call waits for it again until it has passed the check once more, which
 * runs in the background. Only when no other node is left, callers wait for that check.
 *
 * A node of another chain (another chain id, or another hash of the start block) is refused, and checked again from time to
 * time (`NodeMember`). Where the options do not say the hash, the right one is what the most preferred node has answered
 * that is of this chain id. So a less preferred node decides only while no better one has ever answered: when that one
 * does, its hash is the right one, and nodes with another one are refused until a later check.
 *
 * @example
 * const head = await nodes.head()
 * await nodes.logsOfBlock(head.header, [LAND], { from: head.node })
 */
export class Nodes {
  private readonly options: NodesOptions
  private readonly members: readonly NodeMember[]
  private readonly recent = new RecentBlocks()
  /** Why a node cannot be used, as it was said last. */
  private readonly said = new Map<NodeMember, string>()
  /** The head that was reported last, not counting those behind it. */
  private reportedHead: BlockRef | undefined
  /** The last block on which the nodes agreed as final. */
  private final: BlockRef | undefined

  constructor(options: NodesOptions) {
    this.options = options
    this.members = options.nodes.map((node) => new NodeMember(node, options.timing))
    for (const node of options.nodes) node.isAlone = () => this.isAlone(node)
  }

  /**
   * The head of the best node. Asks that node each time, and the others from time to time. A head that went back is behind,
   * unless another block is known at its height.
   *
   * @throws {NodeError | NoNodeError} where no node says now which block is its newest
   */
  async head(): Promise<Head> {
    await this.checkMembers()
    const asked = new Set<NodeMember>()
    const failed = new Map<NodeMember, NodeError>()
    for (;;) {
      const inOrder = this.inOrder({})
      const best = inOrder.find((member) => !failed.has(member) && !(asked.has(member) && !member.head))
      if (!best) throw inOrder.map((member) => failed.get(member)).find(Boolean) ?? this.noNode()
      if (asked.has(best) && best.head) return this.report(best, best.head)
      const now = this.trusted().filter(
        (member) => !asked.has(member) && (member === best || this.isHeadOld(member)),
      )
      await Promise.all(
        now.map(async (member) => {
          const failure = await this.refreshHead(member)
          if (failure) failed.set(member, failure)
        }),
      )
      await checkHighest(this.trusted(), this.final)
      for (const member of now) asked.add(member)
    }
  }

  /**
   * The newest final block that the nodes agree on: see {@link agreeOnFinal}. Undefined where no node knows a final block.
   *
   * @throws {NodeError | NoNodeError} where no node answers
   */
  async finalized(): Promise<NodeHeader | undefined> {
    await this.checkMembers()
    const members = this.current()
    if (members.length === 0) throw this.noNode()
    const final = await agreeOnFinal(members, this.options.finality)
    if (final) this.final = { number: final.number, hash: final.hash }
    return final
  }

  /** A header by its hash, from any node; undefined where no node has it. @throws {NodeError | NoNodeError} */
  async headerOf(blockHash: string, choice: Choice = {}): Promise<NodeHeader | undefined> {
    const header = await this.findAt((node) => node.headerOf(blockHash), choice)
    if (header) this.recent.add(header)
    return header
  }

  /** A header by its number, from one node; undefined where no node has it. @throws {NodeError | NoNodeError} */
  headerAt(number: number, choice: Choice = {}): Promise<NodeHeader | undefined> {
    return this.findAt((node) => node.headerAt(number), choice)
  }

  /** Headers by number or by hash, all from one node, in the order of `blocks`. @throws {NodeError | NoNodeError} */
  headersAt<Block extends number | string>(
    blocks: readonly Block[],
  ): Promise<readonly (NodeHeader | undefined)[]> {
    return this.run((node) => node.headersAt(blocks))
  }

  /**
   * Logs of a block, asked for by its hash. A log that the header's bloom excludes makes the answer a wrong one.
   *
   * @param addresses in lower case
   * @throws {NodeError | NoNodeError} of kind `unknown_block` where no node has the block
   */
  logsOfBlock(
    header: Pick<NodeHeader, 'number' | 'hash' | 'logsBloom'>,
    addresses: readonly string[],
    choice: Choice = {},
  ): Promise<LogsOfBlock> {
    return this.run((node) => this.logsFrom(node, header, addresses), choice)
  }

  /** As {@link logsOfBlock}, from this node alone. @throws {NodeError} */
  async logsFrom(
    node: EthereumNode,
    header: Pick<NodeHeader, 'number' | 'hash' | 'logsBloom'>,
    addresses: readonly string[],
  ): Promise<LogsOfBlock> {
    const logs = await node.logsOfBlock(header, addresses)
    if (logs.some(({ blockNumber }) => blockNumber !== header.number)) {
      throw node.accuse('eth_getLogs', 'a log has another block number')
    }
    if (findLogOutsideBloom(header.logsBloom, logs)) {
      throw node.accuse('eth_getLogs', 'the bloom of the block excludes a log')
    }
    return { node, logs }
  }

  /** A node has left out logs of a block: it is asked last from now on, and named once. */
  noteOmission(node: EthereumNode, block: number): void {
    const member = this.members.find((each) => each.node === node)
    if (!member || member.hasLeftOut) return
    member.hasLeftOut = true
    this.options.onOmission?.(node.shown, block)
  }

  /** Whether one node can confirm what another one says: nodes of one host may be the same one. */
  get haveTwoHosts(): boolean {
    return new Set(this.members.map(({ node }) => node.host)).size > 1
  }

  /**
   * Asks each node that can be asked now for the receipts of a block, until it has answered once, and names the nodes that do
   * not give them. A failure of a node is none of this method.
   */
  async askForReceipts(): Promise<void> {
    await this.checkMembers()
    const members = this.trusted().filter(({ givesReceipts }) => givesReceipts === undefined)
    await Promise.all(members.map((member) => this.askMemberForReceipts(member)))
  }

  private async askMemberForReceipts(member: NodeMember): Promise<void> {
    const { head } = member
    if (!head) return
    // Behind one address, one of several machines may not have the newest block yet
    const blockHash = head.number === 0 ? head.hash : head.parentHash
    try {
      member.givesReceipts = (await member.node.receiptsOf(blockHash)) !== undefined
    } catch (error) {
      if (!(error instanceof NodeError)) throw error
      // An error page or a failure within the node says nothing about its methods.
      const isRefused = error instanceof RefusedError && error.kind === 'refused' && error.status < 500
      if (error.kind !== 'unknown_method' && !isRefused) return
      member.givesReceipts = false
    }
    if (!member.givesReceipts) this.options.onWithoutReceipts?.(member.node.shown)
  }

  /**
   * Logs of a block from its receipts, whose root is proven to be the header's: none is missing or wrong.
   *
   * @throws {NodeError | NoNodeError} where no node gives receipts with this root
   */
  provenLogsOfBlock(
    header: Pick<NodeHeader, 'hash' | 'receiptsRoot'>,
    addresses: readonly string[],
    choice: Choice = {},
  ): Promise<LogsOfBlock> {
    return this.run(async (node) => {
      const receipts = await node.receiptsOf(header.hash)
      if (!receipts) throw node.failure('eth_getBlockReceipts', { kind: 'unknown_block' })
      const logs = logsProvenBy(receipts, header.receiptsRoot, addresses)
      if (!logs) throw node.accuse('eth_getBlockReceipts', 'the receipts are not those of the block')
      return { node, logs }
    }, choice)
  }

  /**
   * Does something with the best node; when that fails, with the next one.
   *
   * @throws what `work` throws with the last node, or a failure of kind `history` where there was one; at once for what is
   *   no failure of a node, and when a contract refuses a call
   */
  async run<T>(work: (node: EthereumNode) => Promise<T>, choice: Choice = {}): Promise<T> {
    const failures: NodeError[] = []
    const tried = new Set<EthereumNode>()
    for (;;) {
      const node = (await this.candidates(choice)).find((each) => !tried.has(each))
      if (!node) throw failures.find(({ kind }) => kind === 'history') ?? failures.at(-1) ?? this.noNode()
      tried.add(node)
      try {
        return await work(node)
      } catch (error) {
        if (!(error instanceof NodeError) || error.kind === 'reverted') throw error
        failures.push(error)
      }
    }
  }

  /** Nodes that can be asked now, the best one first. May be empty. */
  async candidates(choice: Choice = {}): Promise<readonly EthereumNode[]> {
    await this.checkMembers()
    return this.inOrder(choice).map(({ node }) => node)
  }

  /** Time of the start block, in seconds since 1970: no block of the land is older. */
  get startTimeS(): number {
    return this.members.find(({ start }) => start?.hash === this.startHash)?.start?.timeS ?? 0
  }

  /** Why no node can be asked. */
  noNode(): NoNodeError {
    const statuses = this.status()
    const reasons = statuses.map(
      ({ shown, state, reason }) => `${shown} is ${state}${reason ? `: ${reason}` : ''}`,
    )
    const pauses = this.members
      .filter(({ refusal, node }) => refusal === undefined && node.pauseMs > 0)
      .map(({ node }) => node.pauseMs)
    return new NoNodeError(reasons, {
      retryAfterMs: pauses.length > 0 ? Math.min(...pauses) : undefined,
      isLasting: this.members.every(({ isMisconfigured }) => isMisconfigured),
    })
  }

  /** A text for everyone: nodes have their short names, and nothing of their addresses is left. */
  withoutAddresses(text: string): string {
    return this.members.reduce((rest, { node }) => node.withoutAddress(rest), text)
  }

  /** A text for the log: the secrets of all addresses are masked. */
  hideSecrets(text: string): string {
    return this.members.reduce((rest, { node }) => node.hideSecrets(rest), text)
  }

  /** What is known of each node, in order of preference. */
  status(): readonly NodeStatus[] {
    return this.members.map((member) => ({
      name: member.node.name,
      shown: member.node.shown,
      state: this.stateOf(member),
      reason: member.refusal ?? member.problem,
    }))
  }

  private stateOf(member: NodeMember): NodeStatus['state'] {
    if (member.refusal !== undefined) return 'refused'
    if (member.node.pauseMs > 0) return 'paused'
    if (!this.trusted().includes(member)) return 'avoided'
    return this.isLagging(member) || member.isBehind ? 'lagging' : 'usable'
  }

  /** Checks nodes that are not trusted: waits for it only where there is no trusted one. */
  private async checkMembers(): Promise<void> {
    const isNoneTrusted = this.trusted().length === 0
    const due = this.members.filter(
      (member) =>
        (isNoneTrusted ? member.needsCheck : member.isCheckDue) && member.node.pauseMs <= MAX_WAIT_MS,
    )
    const checks = due.map((member) => this.checkMember(member))
    if (isNoneTrusted) await Promise.all(checks)
    // What the background meets, such as the end of the program, the next call meets as well
    else for (const check of checks) check.catch(() => undefined)
  }

  private async checkMember(member: NodeMember): Promise<void> {
    const { chainId, startBlock } = this.options
    await member.check({ chainId, startBlock: startBlock.number })
    this.compareStartBlocks()
    const reason = member.refusal ?? (member.isTrusted ? undefined : member.problem)
    if (reason !== undefined && reason !== this.said.get(member)) {
      this.said.set(member, reason)
      this.options.onUnusable?.(member.node.shown, reason)
    }
  }

  /** The hash of the right start block; undefined while no node has answered one. */
  private get startHash(): string | undefined {
    return this.options.startBlock.hash ?? this.members.find(({ start }) => start !== undefined)?.start?.hash
  }

  /** All nodes, because a check of one of them may have changed which hash is right. */
  private compareStartBlocks(): void {
    for (const member of this.members) {
      if (!member.start) continue
      if (member.start.hash === this.startHash) member.accept()
      else if (member.refusal === undefined) {
        member.refuse(`its block ${this.options.startBlock.number} has another hash: it is of another chain`)
      }
    }
  }

  /** In order of preference. */
  private trusted(): readonly NodeMember[] {
    return this.members.filter((member) => member.isTrusted && member.start?.hash === this.startHash)
  }

  /** Whether no other node can be asked without a pause. */
  private isAlone(node: EthereumNode): boolean {
    return this.trusted().every((member) => member.node === node || member.node.pauseMs > 0)
  }

  /** Nodes whose head counts: without those that lag or are in a pause, unless all are. */
  private current(): readonly NodeMember[] {
    const trusted = this.trusted()
    const current = trusted.filter((member) => member.node.pauseMs === 0 && !this.isLagging(member))
    return current.length > 0 ? current : trusted
  }

  private inOrder({ from, except }: Choice): readonly NodeMember[] {
    const rank = (member: NodeMember) =>
      Number(member.hasLeftOut) * 32 +
      Number(member.node === except) * 16 +
      Number(member.node.pauseMs > 0) * 8 +
      Number(this.isLagging(member)) * 4 +
      Number(member.isBehind) * 2 -
      Number(member.node === from)
    return this.trusted()
      .filter(({ node }) => node.pauseMs <= MAX_WAIT_MS)
      .toSorted((a, b) => rank(a) - rank(b))
  }

  private isLagging({ head }: NodeMember): boolean {
    const highest = Math.max(0, ...this.trusted().map((member) => member.head?.number ?? 0))
    return (head?.number ?? 0) < highest - MAX_LAG_BLOCKS
  }

  private isHeadOld(member: NodeMember): boolean {
    const ageMs = this.options.timing.nowMs() - member.headAtMs
    return ageMs >= OTHER_HEADS_MS && member.node.pauseMs === 0
  }

  private async refreshHead(member: NodeMember): Promise<NodeError | undefined> {
    const failure = await member.refreshHead()
    const { head } = member
    member.isBehind = head !== undefined && this.isBehindReported(head)
    return failure
  }

  private report({ node }: NodeMember, header: NodeHeader): Head {
    if (!this.isBehindReported(header)) {
      this.reportedHead = { number: header.number, hash: header.hash }
      this.recent.add(header)
    }
    return { node, header }
  }

  private isBehindReported(header: NodeHeader): boolean {
    const isLower = this.reportedHead !== undefined && header.number < this.reportedHead.number
    return isLower && !this.recent.hasOther(header)
  }

  /** What the first node has that has it. */
  private async findAt<T>(
    find: (node: EthereumNode) => Promise<T | undefined>,
    choice: Choice,
  ): Promise<T | undefined> {
    try {
      return await this.run(async (node) => {
        const found = await find(node)
        if (found === undefined) throw node.failure('eth_getBlock', { kind: 'unknown_block' })
        return found
      }, choice)
    } catch (error) {
      if (error instanceof NodeError && error.kind === 'unknown_block') return undefined
      throw error
    }
  }
}
