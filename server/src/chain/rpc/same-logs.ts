import type { RawLog } from '../chain-types.ts'
import { comparedText } from '../packed-logs.ts'
import type { LogsOfBlock, Nodes } from './nodes.ts'

/** Whether two nodes have given the same logs of a block; their times do not count, which some nodes do not say. */
export function areSameLogs(logs: readonly RawLog[], others: readonly RawLog[]): boolean {
  return (
    logs.length === others.length && logs.every((log, at) => comparedText(log) === comparedText(others[at]!))
  )
}

/**
 * Without receipts, the longer one of two answers is right if it has all of the other one: nodes leave out logs, and invent none. Of
 * equally long ones it is the first.
 *
 * @throws {NodeError} where each has a log that the other one does not have
 */
export function longerLogs(answers: readonly LogsOfBlock[], block: number): readonly RawLog[] {
  const [longer, shorter] = answers.toSorted((a, b) => b.logs.length - a.logs.length)
  const known = new Set(longer!.logs.map(comparedText))
  if (shorter!.logs.every((log) => known.has(comparedText(log)))) return longer!.logs
  throw shorter!.node.failure(
    'eth_getLogs',
    { kind: 'wrong_answer' },
    `another node has other logs of block ${block}`,
  )
}

/** A node that has not answered the right logs of a block has left out some: see {@link Nodes.noteOmission}. */
export function noteOmissions(
  nodes: Nodes,
  answers: readonly LogsOfBlock[],
  right: readonly RawLog[],
  block: number,
): void {
  for (const { node, logs } of answers) if (!areSameLogs(logs, right)) nodes.noteOmission(node, block)
}
