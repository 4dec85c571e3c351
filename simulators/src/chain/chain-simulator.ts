import { setMaxListeners } from 'node:events'
import type { World } from '@landpass/client/grid'
import { type Clock, SECOND_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import Fastify from 'fastify'
import { SimulatedChain } from './blocks/chain.ts'
import type { NetworkFile } from './contracts/contracts.ts'
import { addControlRoutes } from './control-routes.ts'
import { type MarketChainOptions, openMarketChain } from './market-chain.ts'
import { addMarketRoutes } from './market-routes.ts'
import { answerRpc, refuseBody } from './node/rpc-routes.ts'
import { type OpenedChain, RunningChain } from './running-chain.ts'

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
  /** The clock of a chain that makes blocks by itself: the time of its blocks is that of this clock. */
  readonly clock?: Clock
  /** Begins with the land of a snapshot, or continues such a chain, in place of a history. */
  readonly market?: Pick<MarketChainOptions, 'snapshot' | 'store' | 'addresses'> | undefined
  /** Ends the making of the history. */
  readonly signal?: AbortSignal
}

export interface ChainSimulator {
  /** For example `http://127.0.0.1:4003`: a value for CHAIN_RPC_URLS. */
  readonly address: string
  /** What the file that CHAIN_NETWORK names has to contain. */
  readonly network: NetworkFile
  /** @throws {ControlError} before there is one */
  readonly chain: SimulatedChain
  /** Resolves when there is the first block. */
  readonly firstBlock: Promise<unknown>
  /** Resolves when blocks can be made. */
  readonly loaded: Promise<void>
  close(): Promise<void>
}

/** The newest block of the history, where nothing else is said: the same chain on every day. */
const REFERENCE_TIME_S = Date.UTC(2026, 0, 15) / SECOND_MS
const BODY_LIMIT_BYTES = 4 * 1024 * 1024

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
  const { host, port, clock = SYSTEM_CLOCK } = options
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one listener for each delayed answer
  const nowS = () => Math.floor(clock.nowMs() / SECOND_MS)
  const running = options.market
    ? new RunningChain(options, nowS, openMarket(options, options.market, closing.signal))
    : new RunningChain(options, nowS, makeHistory(options, nowS))
  // A chain that begins with a snapshot may wait for it: the node is there before.
  if (!options.market) await running.loaded
  const app = Fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true })
  refuseBody(app)
  addControlRoutes(app, running)
  addMarketRoutes(app, running)
  app.post<{ Params: { '*': string } }>('/*', async ({ params, body }, reply) => {
    const [, name = ''] = /^nodes\/([^/]+)/.exec(params['*']) ?? []
    const node = running.node(name)
    return answerRpc({ node, reads: running.reads, closing: closing.signal }, body, reply)
  })
  const close = async () => {
    closing.abort()
    await app.close()
    await running.close()
  }
  const address = await app.listen({ host, port })
  return {
    ...{ address, network: running.network, close, firstBlock: running.firstBlock, loaded: running.loaded },
    get chain() {
      return running.chain
    },
  }
}

async function makeHistory(options: ChainSimulatorOptions, nowS: () => number): Promise<OpenedChain> {
  const headTimeS = options.blockTimeS > 0 ? nowS() : REFERENCE_TIME_S
  const chain = new SimulatedChain({ ...options, headTimeS })
  await chain.makeHistory(options.signal)
  return { chain, loaded: Promise.resolve(), close: () => undefined }
}

function openMarket(
  options: ChainSimulatorOptions,
  market: NonNullable<ChainSimulatorOptions['market']>,
  closing: AbortSignal,
): Promise<OpenedChain> {
  const signal = options.signal ? AbortSignal.any([options.signal, closing]) : closing
  return openMarketChain({ ...options, ...market, signal })
}
