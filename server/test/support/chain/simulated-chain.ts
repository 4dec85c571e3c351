import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseWorld } from '@landpass/client/grid'
import { type ChainSimulator, startChainSimulator } from '@landpass/simulators/chain/chain-simulator'
import { emptyDir } from '../database/engines.ts'
import { type Env, startLandpass } from '../processes/landpass.ts'
import { atEndOfEachFile } from '../run/end-of-file.ts'

/** A chain simulator, and its controls. */
export interface SimulatedChain {
  readonly address: string
  /** Settings of a landpass process that follows it. */
  readonly env: Env
  mine(blocks: number): Promise<Head>
  /** Replaces the newest blocks by others, one more of them unless `length` says otherwise. */
  reorganise(depth: number, length?: number): Promise<Head>
  /** Changes settings of the node at `/nodes/<name>`; `''` is the one at `/`. */
  change(settings: Readonly<Record<string, unknown>>, node?: string): Promise<void>
  /** What a node was asked since its start, or since the last reset. */
  calls(node?: string): Promise<AskedNode>
  /** All nodes behave, and count, as after their start. The chain stays. */
  reset(): Promise<void>
  head(): Promise<Head>
  /** What the contracts have stored after the newest block. */
  truth(part: 'parcels' | 'estates'): Promise<readonly Readonly<Record<string, unknown>>[]>
  stop(): Promise<void>
}

export interface Head {
  readonly number: number
  readonly hash: string
}

export interface AskedNode {
  readonly requests: number
  /** By method. */
  readonly calls: Readonly<Record<string, number>>
  /** Each call of `eth_getLogs`. */
  readonly asked_logs: readonly {
    readonly from?: number
    readonly to?: number
    readonly blockHash?: string
  }[]
}

export interface SimulatedChainOptions {
  readonly seed?: number
  readonly blocks: number
  readonly world: string
  /** On average, of each block. */
  readonly transactions?: number
}

/** The simulators of this process; those that still run at the end of a test file are closed. */
const open: { close(): Promise<void> }[] = []
atEndOfEachFile(async () => {
  await Promise.all(open.splice(0).map((simulator) => simulator.close()))
})

/**
 * Starts the command `landpass simulate chain`, which makes blocks on command only. It ends with the test file at the
 * latest. Where the command is not the subject, {@link simulateChainHere} costs less.
 */
export async function startSimulatedChain(options: SimulatedChainOptions): Promise<SimulatedChain> {
  const network = join(emptyDir(), 'simulated.json')
  const { seed = 1, blocks, world, transactions = 0.6 } = options
  const running = startLandpass([
    ...['simulate', 'chain', '--seed', String(seed), '--blocks', String(blocks), '--world', world],
    ...['--transactions', String(transactions), '--write-network', network],
  ])
  await running.said('http://')
  const address = /http:\/\/[\d.]+:\d+/.exec(running.stdout())![0]
  const stop = async () => {
    running.child.kill()
    await running.ended
  }
  return controlsOf({ address, network, world, stop })
}

/** A simulator in this process: what its contracts have stored can be read without a request. */
export interface ChainHere extends SimulatedChain {
  readonly chain: ChainSimulator['chain']
}

/** The same simulator in this process: the same options make the same chain. */
export async function simulateChainHere(options: SimulatedChainOptions): Promise<ChainHere> {
  const { seed = 1, blocks, world, transactions = 0.6 } = options
  const simulator = await startChainSimulator({
    ...{ host: '127.0.0.1', port: 0, chainId: 1337, seed, world: parseWorld(world)! },
    ...{ historyBlocks: blocks, blockTimeS: 0, transactionsPerBlock: transactions },
  })
  open.push(simulator)
  const network = join(emptyDir(), 'simulated.json')
  writeFileSync(network, JSON.stringify(simulator.network))
  const controls = controlsOf({ address: simulator.address, network, world, stop: () => simulator.close() })
  return { ...controls, chain: simulator.chain }
}

interface Started {
  readonly address: string
  /** The file of the network. */
  readonly network: string
  readonly world: string
  readonly stop: () => Promise<void>
}

function controlsOf({ address, network, world, stop }: Started): SimulatedChain {
  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`${address}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text)
  }
  const nodePath = (node: string) => (node === '' ? '/simulator' : `/simulator/nodes/${node}`)
  return {
    address,
    env: { CHAIN_RPC_URLS: address, CHAIN_NETWORK: network, WORLD: world, CHAIN_POLL_MS: '100' },
    mine: (count) => send('POST', '/simulator/mine', { blocks: count }) as Promise<Head>,
    reorganise: (depth, length) =>
      send('POST', '/simulator/reorganise', {
        depth,
        ...(length !== undefined && { length }),
      }) as Promise<Head>,
    change: async (settings, node = '') => {
      await send('PATCH', `${nodePath(node)}/settings`, settings)
    },
    calls: (node = '') => send('GET', `${nodePath(node)}/calls`) as Promise<AskedNode>,
    reset: async () => {
      await send('POST', '/simulator/reset')
    },
    head: () => send('GET', '/simulator/head') as Promise<Head>,
    truth: async (part) => {
      const truth = await send('GET', `/truth?parts=${part}`)
      return (truth as Record<string, readonly Record<string, unknown>[]>)[part] ?? []
    },
    stop,
  }
}
