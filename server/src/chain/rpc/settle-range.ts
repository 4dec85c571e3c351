import type { RawLog } from '../chain-types.ts'
import { PackedLogs } from '../packed-logs.ts'
import { receiptsRootOf } from '../proofs/receipts-root.ts'
import type { EthereumNode } from './node.ts'
import { NodeError } from './node-error.ts'
import type { Nodes } from './nodes.ts'

/** The logs of one range, as one node has them. */
export interface LogsOfRange {
  readonly node: EthereumNode
  readonly logs: Iterable<RawLog>
}

/** So many blocks of a range are settled by their receipts; in the others the longer answer counts. */
const MOST_PROVEN = 32

/**
 * The logs of a range of final blocks of which two nodes have different ones. Each block that differs is settled by its receipts,
 * else by the longer answer, if that has all logs of the other one. Who has left out a log is asked last from then on.
 *
 * @throws {NodeError} where the answers contradict each other and no receipts settle it
 */
export async function settleRange(
  nodes: Nodes,
  answers: readonly [LogsOfRange, LogsOfRange],
  addresses: readonly string[],
): Promise<PackedLogs> {
  const [first, second] = answers.map(({ logs }) => byBlock(logs)) as [Blocks, Blocks]
  const numbers = [...new Set([...first.keys(), ...second.keys()])].sort((a, b) => a - b)
  const settled: RawLog[] = []
  let proofs = 0
  for (const number of numbers) {
    const both = [first.get(number) ?? [], second.get(number) ?? []] as const
    if (areSame(both[0], both[1])) {
      settled.push(...both[0])
      continue
    }
    proofs += 1
    const proven = proofs <= MOST_PROVEN ? await provenLogs(nodes, number, addresses) : undefined
    const right = proven ?? longerOf(answers, both, number)
    for (const [at, { node }] of answers.entries())
      if (!areSame(both[at]!, right)) nodes.noteOmission(node, number)
    settled.push(...right)
  }
  return PackedLogs.from(settled)
}

type Blocks = ReadonlyMap<number, readonly RawLog[]>

function byBlock(logs: Iterable<RawLog>): Blocks {
  const blocks = new Map<number, RawLog[]>()
  for (const log of logs) {
    const block = blocks.get(log.blockNumber)
    if (block) block.push(log)
    else blocks.set(log.blockNumber, [log])
  }
  return blocks
}

async function provenLogs(
  nodes: Nodes,
  number: number,
  addresses: readonly string[],
): Promise<readonly RawLog[] | undefined> {
  const wanted = new Set(addresses)
  try {
    return await nodes.run(async (node) => {
      const header = await node.headerAt(number)
      if (!header) throw node.failure('eth_getBlockByNumber', { kind: 'unknown_block' })
      if (!header.isHashChecked) return undefined
      const receipts = await node.receiptsOf(header.hash)
      if (!receipts || receiptsRootOf(receipts) !== header.receiptsRoot)
        throw node.failure('eth_getBlockReceipts', { kind: 'unknown_block' })
      return receipts.flatMap(({ logs }) => logs.filter(({ address }) => wanted.has(address)))
    })
  } catch (error) {
    if (error instanceof NodeError) return undefined
    throw error
  }
}

function longerOf(
  [one, other]: readonly [LogsOfRange, LogsOfRange],
  [logs, others]: readonly [readonly RawLog[], readonly RawLog[]],
  number: number,
): readonly RawLog[] {
  const [longer, shorter] = logs.length > others.length ? [logs, others] : [others, logs]
  const known = new Set(longer.map(textOf))
  if (shorter.every((log) => known.has(textOf(log)))) return longer
  const { node } = longer === logs ? other : one
  throw node.failure(
    'eth_getLogs',
    { kind: 'wrong_answer' },
    `another node has other logs of block ${number}`,
  )
}

function areSame(logs: readonly RawLog[], others: readonly RawLog[]): boolean {
  return logs.length === others.length && logs.every((log, at) => textOf(log) === textOf(others[at]!))
}

/** Some nodes do not say the times of logs. */
function textOf({ blockTimeS: _, ...log }: RawLog): string {
  return JSON.stringify(log)
}
