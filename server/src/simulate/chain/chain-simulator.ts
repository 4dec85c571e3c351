import { setMaxListeners } from 'node:events'
import type { World } from '@landpass/client/grid'
import Fastify from 'fastify'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from '../../clock.ts'
import { SimulatedChain } from './blocks/chain.ts'
import { type NetworkFile, networkFile } from './contracts/contracts.ts'
import { addControlRoutes } from './control-routes.ts'
import { ContractReads } from './node/contract-reads.ts'
import { answerRpc, refuseBody } from './node/rpc-routes.ts'
import { ControlError } from './node/settings.ts'
import { SimulatedNode } from './node/simulated-node.ts'

export interface ChainSimulatorOptions {
  readonly host: string
  /** 0 uses any free port. */
  readonly port: number
  /** The same seed makes the same chain, if the same is done with it. */
  readonly seed: number
  readonly world: World
  readonly chainId: number
  /** Blocks of history, made at the start. */
  readonly historyBlocks: number
  /** Seconds between two blocks; 0 makes blocks on command only. */
  readonly blockTimeS: number
  /** Transactions of a block, on average, beside the sales of new parcels. */
  readonly transactionsPerBlock: number
  /** Of a chain that makes blocks by itself: the time of its blocks is that of this clock. */
  readonly clock?: Clock
  /** Ends the making of the history. */
  readonly signal?: AbortSignal
}

export interface ChainSimulator {
  /** For example `http://127.0.0.1:4003`: a value for CHAIN_RPC_URLS. */
  readonly address: string
  /** What the file that CHAIN_NETWORK names has to contain. */
  readonly network: NetworkFile
  readonly chain: SimulatedChain
  close(): Promise<void>
}

/** The newest block of the history, where nothing else is said: the same chain on every day. */
const REFERENCE_TIME_S = Date.UTC(2026, 0, 15) / SECOND_MS
const BODY_LIMIT_BYTES = 4 * 1024 * 1024
const MOST_NODES = 16
const NODE_NAME = /^[a-z\d-]{1,40}$/

/**
 * Starts a server that simulates a node of a made-up chain, whose land contracts follow the rules of the real ones. It
 * speaks JSON-RPC at every path; paths `/nodes/<name>` are further nodes of the same chain, each with faults of its own
 * (control-routes.ts, node/settings.ts).
 *
 * @example
 * const simulator = await startChainSimulator({ ...options, host: '127.0.0.1', port: 0, historyBlocks: 100 })
 * const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_blockNumber', params: [] })
 * await fetch(simulator.address, { method: 'POST', body }) // {"jsonrpc":"2.0","id":1,"result":"0x64"}
 */
export async function startChainSimulator(options: ChainSimulatorOptions): Promise<ChainSimulator> {
  const { host, port, blockTimeS, clock = SYSTEM_CLOCK } = options
  const nowS = () => Math.floor(clock.nowMs() / SECOND_MS)
  const isLive = blockTimeS > 0
  const chain = new SimulatedChain({ ...options, headTimeS: isLive ? nowS() : REFERENCE_TIME_S })
  await chain.makeHistory(options.signal)
  const reads = new ContractReads(chain.contracts)
  const network = networkFile(options.chainId, chain.machine, chain.contracts)
  const nodes = new Map([['', new SimulatedNode(chain)]])
  const node = (name: string) => findOrAddNode(nodes, name, chain)

  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one listener for each delayed answer
  const app = Fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true })
  addControlRoutes(app, { chain, network, nodes, node, timeS: () => (isLive ? nowS() : undefined) })
  await app.register(async (part) => {
    refuseBody(part)
    part.post<{ Params: { '*': string } }>('/*', async ({ params, body }, reply) => {
      const [, name = ''] = /^nodes\/([^/]+)/.exec(params['*']) ?? []
      return answerRpc({ node: node(name), reads, closing: closing.signal }, body, reply)
    })
  })
  const address = await app.listen({ host, port })
  const timer = isLive ? setInterval(() => chain.mine(nowS()), blockTimeS * SECOND_MS) : undefined
  return {
    ...{ address, network, chain },
    close: async () => {
      clearInterval(timer)
      closing.abort()
      await app.close()
    },
  }
}

function findOrAddNode(
  nodes: Map<string, SimulatedNode>,
  name: string,
  chain: SimulatedChain,
): SimulatedNode {
  const known = nodes.get(name)
  if (known) return known
  if (!NODE_NAME.test(name) || nodes.size > MOST_NODES) {
    throw new ControlError(`a node has a name like b, and there are at most ${MOST_NODES}`)
  }
  const added = new SimulatedNode(chain)
  nodes.set(name, added)
  return added
}
