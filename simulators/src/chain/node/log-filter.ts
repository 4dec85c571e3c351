import type { Block } from '../blocks/block.ts'
import type { SimulatedLog } from '../contracts/machine.ts'
import { type LogJson, logJson } from './block-json.ts'
import { RpcError } from './range-refusals.ts'

/** Which logs are asked for, apart from the blocks. */
export interface LogFilter {
  /** Undefined: all. */
  readonly addresses: ReadonlySet<string> | undefined
  /** For each position the topics that are allowed there; undefined: any. */
  readonly topics: readonly (ReadonlySet<string> | undefined)[]
}

const INVALID_PARAMS = -32602

/** @throws {RpcError} for what is not a filter */
export function parseLogFilter({ address, topics = [] }: { address?: unknown; topics?: unknown }): LogFilter {
  if (!Array.isArray(topics)) throw new RpcError(INVALID_PARAMS, 'invalid argument 0: topics is a list')
  const list: readonly unknown[] = topics
  return { addresses: setOf(address, 40), topics: list.map((one) => setOf(one, 64)) }
}

/** The logs of a block that the filter wants. */
export function logsOf(block: Block, filter: LogFilter, withTimestamps: boolean): LogJson[] {
  return block.transactions.flatMap(({ logs, firstLogIndex }, transactionIndex) =>
    logs.flatMap((log, i) =>
      matches(log, filter)
        ? [logJson(block, { log, transactionIndex, logIndex: firstLogIndex + i }, withTimestamps)]
        : [],
    ),
  )
}

function matches({ address, topics }: SimulatedLog, filter: LogFilter): boolean {
  if (filter.addresses && !filter.addresses.has(address)) return false
  return filter.topics.every((allowed, i) => allowed === undefined || allowed.has(topics[i] ?? ''))
}

/** One value or a list of them; null and an empty list allow everything. */
function setOf(value: unknown, digits: number): ReadonlySet<string> | undefined {
  if (value === undefined || value === null) return undefined
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0) return undefined
  return new Set(
    list.map((one) => {
      if (typeof one !== 'string' || !/^0x[\da-f]+$/i.test(one) || one.length !== digits + 2) {
        throw new RpcError(INVALID_PARAMS, `invalid argument 0: hex string of ${digits} digits expected`)
      }
      return one.toLowerCase()
    }),
  )
}
