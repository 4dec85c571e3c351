import type { SimulatedChain } from './blocks/chain.ts'
import { type ContractAddresses, Contracts, type NetworkFile, networkFile } from './contracts/contracts.ts'
import { erasOf } from './contracts/eras.ts'
import { Machine } from './contracts/machine.ts'
import type { ControlledChain } from './control-routes.ts'
import { ContractReads } from './node/contract-reads.ts'
import { ControlError } from './node/settings.ts'
import { SimulatedNode } from './node/simulated-node.ts'
import { Pace, paceOf } from './pace.ts'
import { FIRST_BLOCK_NUMBER } from './snapshot/first-block.ts'

const MOST_NODES = 16
const NODE_NAME = /^[a-z\d-]{1,40}$/

/** A chain, which may still wait for the land of a snapshot. */
export interface OpenedChain {
  readonly chain: SimulatedChain
  /** Resolves when blocks can be made. */
  readonly loaded: Promise<void>
  close(): void
}

interface RunOptions {
  readonly chainId: number
  readonly historyBlocks: number
  readonly blockTimeS: number
  readonly transactionsPerBlock: number
  readonly market?: { readonly addresses: ContractAddresses } | undefined
}

interface Parts extends OpenedChain {
  readonly pace: Pace
  readonly reads: ContractReads
  readonly nodes: Map<string, SimulatedNode>
}

/** A chain that may not be there yet, with its nodes and its pace. */
export class RunningChain implements ControlledChain {
  readonly network: NetworkFile
  /** Resolves when there is the first block. */
  readonly firstBlock: Promise<unknown>
  readonly loaded: Promise<void>
  private parts: Parts | undefined
  private isClosed = false

  constructor(options: RunOptions, nowS: () => number, opening: Promise<OpenedChain>) {
    this.network = networkOf(options)
    this.firstBlock = opening
    this.loaded = this.open(options, nowS, opening)
    this.loaded.catch(() => undefined) // Reported where it is awaited.
  }

  get chain(): SimulatedChain {
    return this.opened.chain
  }

  get pace(): Pace {
    return this.opened.pace
  }

  get reads(): ContractReads {
    return this.opened.reads
  }

  get nodes(): ReadonlyMap<string, SimulatedNode> {
    return this.opened.nodes
  }

  node(name: string): SimulatedNode {
    const { nodes, chain } = this.opened
    const known = nodes.get(name)
    if (known) return known
    if (!NODE_NAME.test(name) || nodes.size > MOST_NODES) {
      throw new ControlError(`a node has a name like b, and there are at most ${MOST_NODES}`)
    }
    const added = new SimulatedNode(chain)
    nodes.set(name, added)
    return added
  }

  /** No block is made afterwards. */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    this.parts?.pace.stop()
    await this.loaded.catch(() => undefined)
    this.parts?.close()
  }

  private get opened(): Parts {
    if (!this.parts) throw new ControlError('there is no chain yet: the snapshot is not complete', 503)
    return this.parts
  }

  private async open(options: RunOptions, nowS: () => number, opening: Promise<OpenedChain>): Promise<void> {
    const opened = await opening
    const { chain } = opened
    const pace = new Pace(chain, nowS, paceOf(options))
    const nodes = new Map([['', new SimulatedNode(chain)]])
    this.parts = { ...opened, pace, nodes, reads: new ContractReads(chain.contracts) }
    await opened.loaded
    if (!this.isClosed) pace.start()
  }
}

/** It does not depend on the snapshot: a follower can be set up before that is there. */
function networkOf({ chainId, historyBlocks, market }: RunOptions): NetworkFile {
  const eras = erasOf(market ? 0 : historyBlocks)
  const contracts = new Contracts(new Machine(eras), market?.addresses)
  return networkFile(chainId, { eras, contracts, first: market ? FIRST_BLOCK_NUMBER : 1 })
}
