import type { RawLog } from '../chain-types.ts'
import { excludesLogsOf } from '../proofs/bloom.ts'
import type { EthereumNode } from './node.ts'
import type { NodeHeader } from './node-answers.ts'
import { ignoreNodeError } from './node-error.ts'
import type { Choice, LogsOfBlock, Nodes } from './nodes.ts'
import { areSameLogs, longerLogs, noteOmissions } from './same-logs.ts'

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
  if (second && areSameLogs(first.logs, second.logs)) return { logs: first.logs, by: 'agreed' }
  const proven = await provenLogsOf(nodes, header, addresses, { from: first.node })
  if (!proven && !second) return { logs: first.logs, by: 'alone' }
  const answers = second ? [first, second] : [first]
  const logs = proven ?? longerLogs(answers, header.number)
  noteOmissions(nodes, answers, logs, header.number)
  return { logs, by: proven ? 'proven' : 'agreed' }
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
    if (areSameLogs(logs, before)) return logs
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
  // It may not have the block yet
  return nodes.logsFrom(other, header, addresses).catch(ignoreNodeError)
}

/** The logs of a block that its receipts prove; undefined where no node gives them, or its hash cannot be checked. */
export async function provenLogsOf(
  nodes: Nodes,
  header: NodeHeader,
  addresses: readonly string[],
  choice: Choice = {},
): Promise<readonly RawLog[] | undefined> {
  if (!header.isHashChecked) return undefined
  return (await nodes.provenLogsOfBlock(header, addresses, choice).catch(ignoreNodeError))?.logs
}
