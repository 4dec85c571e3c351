import type { BlockRef, RawLog } from '../chain-types.ts'
import { type BlockRange, ContradictionError, type RangeLogs } from './chain-source.ts'

/** The most logs that one transaction applies, except where one block has more. */
const LOGS_OF_STEP = 500

/**
 * The logs of a range by block. The node that gave them may have another chain than the one that gave the headers.
 *
 * @param hashOf the hash that a block has on the chain that is followed
 * @throws {ContradictionError} where the last block of any part is another one
 */
export async function logsByBlock(
  { logs: read, ends }: RangeLogs,
  range: BlockRange,
  hashOf: (number: number) => Promise<string | undefined>,
): Promise<ReadonlyMap<number, readonly RawLog[]>> {
  if (ends.at(-1)?.number !== range.last)
    throw new ContradictionError(`the blocks from ${range.first} to ${range.last} were not read to their end`)
  for (const { number, hash } of ends)
    if ((await hashOf(number)) !== hash)
      throw new ContradictionError(`the range that ends with block ${number} (${hash}) is of another chain`)
  const logsOf = new Map<number, RawLog[]>()
  for (const log of read) {
    if (log.blockNumber < range.first || log.blockNumber > range.last)
      throw new ContradictionError(`a log of block ${log.blockNumber} is outside of its range`)
    const logs = logsOf.get(log.blockNumber)
    if (logs) logs.push(log)
    else logsOf.set(log.blockNumber, [log])
  }
  return logsOf
}

/** @throws {ContradictionError} where a log is of another block, or its place in the block is not after the one before */
export function assertOfBlock(block: BlockRef, logs: readonly RawLog[]): void {
  let last = -1
  for (const { blockHash, blockNumber, logIndex } of logs) {
    if (blockHash !== block.hash || blockNumber !== block.number)
      throw new ContradictionError(`block ${block.number} was answered with the logs of another block`)
    if (logIndex <= last)
      throw new ContradictionError(`the logs of block ${block.number} are not in their order`)
    last = logIndex
  }
}

/** Whole blocks, in parts of {@link LOGS_OF_STEP} logs. */
export function partsOf(
  logsOf: ReadonlyMap<number, readonly RawLog[]>,
): readonly (readonly (readonly [number, readonly RawLog[]])[])[] {
  const parts: [number, readonly RawLog[]][][] = []
  let size = Number.POSITIVE_INFINITY
  for (const [number, logs] of [...logsOf].sort(([a], [b]) => a - b)) {
    if (size + logs.length > LOGS_OF_STEP) {
      parts.push([])
      size = 0
    }
    parts.at(-1)!.push([number, logs])
    size += logs.length
  }
  return parts
}
