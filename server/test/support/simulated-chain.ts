import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Env, startLandpass } from './landpass.ts'

/** A chain simulator in a process of its own, and its controls. */
export interface SimulatedChain {
  readonly address: string
  /** Settings of a landpass process that follows it. */
  readonly env: Env
  mine(blocks: number): Promise<Head>
  /** Replaces the newest blocks by others, one more of them unless `length` says otherwise. */
  reorganise(depth: number, length?: number): Promise<Head>
  /** Changes settings of the node at `/nodes/<name>`; `''` is the one at `/`. */
  change(settings: Readonly<Record<string, unknown>>, node?: string): Promise<void>
  calls(node?: string): Promise<{ readonly calls: Readonly<Record<string, number>> }>
  head(): Promise<Head>
  /** What the contracts have stored after the newest block. */
  truth(part: 'parcels' | 'estates'): Promise<readonly Readonly<Record<string, unknown>>[]>
  stop(): void
}

interface Head {
  readonly number: number
  readonly hash: string
}

export interface SimulatedChainOptions {
  readonly seed?: number
  readonly blocks: number
  readonly world: string
  /** On average, of each block. */
  readonly transactions?: number
}

/** Starts a simulator that makes blocks on command only. It ends with the test file at the latest. */
export async function startSimulatedChain(options: SimulatedChainOptions): Promise<SimulatedChain> {
  const network = join(mkdtempSync(join(tmpdir(), 'landpass-network-')), 'simulated.json')
  const { seed = 1, blocks, world, transactions = 0.6 } = options
  const running = startLandpass([
    ...['simulate', 'chain', '--seed', String(seed), '--blocks', String(blocks), '--world', world],
    ...['--transactions', String(transactions), '--write-network', network],
  ])
  await running.said('http://')
  const address = /http:\/\/[\d.]+:\d+/.exec(running.stdout())![0]
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
    calls: (node = '') =>
      send('GET', `${nodePath(node)}/calls`) as Promise<{ calls: Readonly<Record<string, number>> }>,
    head: () => send('GET', '/simulator/head') as Promise<Head>,
    truth: async (part) => {
      const truth = await send('GET', `/truth?parts=${part}`)
      return (truth as Record<string, readonly Record<string, unknown>[]>)[part] ?? []
    },
    stop: () => void running.child.kill(),
  }
}
