import type { RawLog } from '../chain-types.ts'
import { PackedLogs } from '../packed-logs.ts'
import { logsProvenBy } from '../proofs/receipts-root.ts'
import type { EthereumNode } from './node.ts'
import { ignoreNodeError } from './node-error.ts'
import type { Nodes } from './nodes.ts'
import { areSameLogs, longerLogs, noteOmissions } from './same-logs.ts'

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
    const logs = first.get(number) ?? []
    const others = second.get(number) ?? []
    if (areSameLogs(logs, others)) {
      settled.push(...logs)
      continue
    }
    const ofBlock = [
      { node: answers[0].node, logs },
      { node: answers[1].node, logs: others },
    ]
    proofs += 1
    const proven = proofs <= MOST_PROVEN ? await provenLogs(nodes, number, addresses) : undefined
    const right = proven ?? longerLogs(ofBlock, number)
    noteOmissions(nodes, ofBlock, right, number)
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
  return nodes
    .run(async (node) => {
      const header = await node.headerAt(number)
      if (!header) throw node.failure('eth_getBlockByNumber', { kind: 'unknown_block' })
      if (!header.isHashChecked) return undefined
      const receipts = await node.receiptsOf(header.hash)
      const logs = receipts && logsProvenBy(receipts, header.receiptsRoot, addresses)
      if (!logs) throw node.failure('eth_getBlockReceipts', { kind: 'unknown_block' })
      return logs
    })
    .catch(ignoreNodeError)
}
