import type { Network } from '../chain-types.ts'
import { CallCounters } from './call-counters.ts'
import type { JsonRpcOptions } from './json-rpc.ts'
import { EthereumNode } from './node.ts'
import { readNodeAddress } from './node-address.ts'
import { Nodes, type NodesOptions } from './nodes.ts'
import { REAL_TIMING } from './timing.ts'

export interface ConnectOptions extends Partial<Omit<JsonRpcOptions, 'address'>> {
  /** In order of preference. */
  readonly urls: readonly string[]
  readonly network: Pick<Network, 'chainId' | 'contracts'>
  /** The hash of the start block of LAND, where it is known. */
  readonly startHash?: string | undefined
  readonly finality?: number | undefined
  readonly onUnusable?: NodesOptions['onUnusable']
  readonly onOmission?: NodesOptions['onOmission']
  readonly onWithoutReceipts?: NodesOptions['onWithoutReceipts']
}

const DEFAULT_TIMEOUT_MS = 20_000
const DEFAULT_MAX_BYTES = 64 * 1024 * 1024
const DEFAULT_MAX_IN_FLIGHT = 8

/**
 * The nodes of a network, with the names `node1`, `node2` …. Makes no call yet.
 *
 * @throws a `TypeError` without the text for one that is no address
 * @example
 * const nodes = connectNodes({ urls: ['https://rpc.example/key'], network, counters })
 */
export function connectNodes({
  urls,
  network,
  startHash,
  finality,
  onUnusable,
  onOmission,
  onWithoutReceipts,
  ...options
}: ConnectOptions): Nodes {
  const timing = options.timing ?? REAL_TIMING
  const shared = {
    timeoutMs: DEFAULT_TIMEOUT_MS,
    maxBytes: DEFAULT_MAX_BYTES,
    maxInFlight: DEFAULT_MAX_IN_FLIGHT,
    counters: new CallCounters(),
    random: Math.random,
    ...options,
    timing,
  }
  const nodes = urls.map(
    (url, at) => new EthereumNode({ ...shared, address: readNodeAddress(`node${at + 1}`, url) }),
  )
  return new Nodes({
    nodes,
    chainId: network.chainId,
    startBlock: { number: network.contracts.LANDRegistry.startBlock, hash: startHash },
    timing,
    finality,
    onUnusable,
    onOmission,
    onWithoutReceipts,
  })
}

/** A line for operators. */
export function omissionText(shown: string, block: number): string {
  return `${shown} has left out logs of block ${block}: it is asked last from now on`
}

/** A line for operators. */
export function withoutReceiptsText(shown: string, haveTwoHosts: boolean): string {
  const until = haveTwoHosts
    ? 'a node of another host has the same logs, or the next block is there'
    : 'the next one is there'
  return `${shown} does not give the receipts of a block (eth_getBlockReceipts), which prove that no log is missing: a new block is shown when ${until}. Use a node that offers this method, or ask its provider for it${haveTwoHosts ? '' : '; or add a node of another host'}`
}
