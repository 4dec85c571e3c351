import type { RawLog } from '../chain-types.ts'
import { excludesLogsOf } from '../proofs/bloom.ts'
import type { EthereumNode } from './node.ts'
import type { NodeHeader } from './node-answers.ts'
import { NodeError } from './node-error.ts'
import type { Choice, LogsOfBlock, Nodes } from './nodes.ts'

/**
 * How it is known that no log of a block is missing: `proven` by the bloom of its header or by its receipts; `agreed` by a node
 * on another host; `repeated` by the same node, in a range, after a further block; `alone`: it is not known.
 */
export const CONFIRMATIONS = ['proven', 'agreed', 'repeated', 'alone'] as const
export type Confirmation = (typeof CONFIRMATIONS)[number]

export interface ConfirmedLogs {
  readonly logs: readonly RawLog[]
  readonly by: Confirmation
}

/**
 * The logs of a block, asked for by its hash, and whether none is missing. The bloom of the header proves that mostly without a
 * call. A node that has left out a log is asked last from then on: see {@link Nodes.noteOmission}.
 *
 * @param addresses in lower case
 * @throws {NodeError | NoNodeError} where no node has the block, or nodes contradict each other
 */
export async function confirmedLogsOf(
  nodes: Nodes,
  header: NodeHeader,
  addresses: readonly string[],
  choice: Choice,
): Promise<ConfirmedLogs> {
  if (header.isHashChecked && excludesLogsOf(header.logsBloom, addresses)) return { logs: [], by: 'proven' }
  const first = await nodes.logsOfBlock(header, addresses, choice)
  const second = await logsOfOther(nodes, header, addresses, first.node)
  if (second && areSame(first.logs, second.logs)) return { logs: first.logs, by: 'agreed' }
  const proven = await provenLogs(nodes, header, addresses, first.node)
  if (proven) {
    for (const { node, logs } of second ? [first, second] : [first])
      if (!areSame(logs, proven)) nodes.noteOmission(node, header.number)
    return { logs: proven, by: 'proven' }
  }
  return second ? longerOf(nodes, header, [first, second]) : { logs: first.logs, by: 'alone' }
}

/**
 * The logs of a block that were read alone, once more: in a range that ends with it, and begins two blocks before. Nodes have been
 * seen to answer no logs by the hash of a new block, and all of them later.
 *
 * @returns undefined where the node has another block of this number now
 */
export async function repeatedLogsOf(
  nodes: Nodes,
  header: NodeHeader,
  addresses: readonly string[],
  { logs: before, choice }: { readonly logs: readonly RawLog[]; readonly choice: Choice },
): Promise<readonly RawLog[] | undefined> {
  const range = { fromBlock: Math.max(0, header.number - BLOCKS_BEFORE), toBlock: header.number }
  return nodes.run(async (node) => {
    const all = await node.logsOfRange(range, addresses)
    const logs = [...all].filter(({ blockNumber }) => blockNumber === header.number)
    if (logs.some(({ blockHash }) => blockHash !== header.hash)) return undefined
    if (areSame(logs, before)) return logs
    nodes.noteOmission(node, header.number)
    return logs.length > before.length ? logs : before
  }, choice)
}

const BLOCKS_BEFORE = 2

async function logsOfOther(
  nodes: Nodes,
  header: NodeHeader,
  addresses: readonly string[],
  first: EthereumNode,
): Promise<LogsOfBlock | undefined> {
  const other = (await nodes.candidates({ except: first })).find(({ host }) => host !== first.host)
  if (!other || other.pauseMs > 0) return undefined
  try {
    return await nodes.logsFrom(other, header, addresses)
  } catch (error) {
    return ignoreNodeError(error) // It may not have the block yet.
  }
}

async function provenLogs(
  nodes: Nodes,
  header: NodeHeader,
  addresses: readonly string[],
  from: EthereumNode,
): Promise<readonly RawLog[] | undefined> {
  if (!header.isHashChecked) return undefined
  try {
    return (await nodes.provenLogsOfBlock(header, addresses, { from })).logs
  } catch (error) {
    return ignoreNodeError(error)
  }
}

/** Without receipts, the longer one of two answers is right if it has all of the other one: nodes leave out logs, and invent none. */
function longerOf(nodes: Nodes, header: NodeHeader, answers: readonly LogsOfBlock[]): ConfirmedLogs {
  const [longer, shorter] = answers.toSorted((a, b) => b.logs.length - a.logs.length)
  const known = new Set(longer!.logs.map(textOf))
  if (!shorter!.logs.every((log) => known.has(textOf(log))))
    throw shorter!.node.failure(
      'eth_getLogs',
      { kind: 'wrong_answer' },
      `another node has other logs of block ${header.number}`,
    )
  nodes.noteOmission(shorter!.node, header.number)
  return { logs: longer!.logs, by: 'agreed' }
}

function areSame(logs: readonly RawLog[], others: readonly RawLog[]): boolean {
  return logs.length === others.length && logs.every((log, at) => textOf(log) === textOf(others[at]!))
}

/** Times are those of the header. */
function textOf({ logIndex, txHash, address, topics, data }: RawLog): string {
  return JSON.stringify([logIndex, txHash, address, topics, data])
}

/** @throws what is no failure of a node */
function ignoreNodeError(error: unknown): undefined {
  if (error instanceof NodeError) return undefined
  throw error
}
