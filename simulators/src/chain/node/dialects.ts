import type { LogJson } from './block-json.ts'

/** In which way a node writes what others write differently. */
export const DIALECTS = [
  'usual',
  'error_null',
  'text_ids',
  'byte_order_mark',
  'gzip',
  'null_bloom',
  'decimals',
  'no_block_hash',
  'null_logs',
  'repeated_logs',
  'reversed_logs',
  'wrong_log_times',
] as const
export type Dialect = (typeof DIALECTS)[number]

/** Numbers in a header, a log or a receipt. */
const NUMBERS: ReadonlySet<string> = new Set([
  'number',
  'timestamp',
  'difficulty',
  'gasLimit',
  'gasUsed',
  'baseFeePerGas',
  'blockNumber',
  'blockTimestamp',
  'transactionIndex',
  'logIndex',
  'cumulativeGasUsed',
])
/** In 1973. */
const WRONG_TIME = '0x6000000'

/** The result of a call, as a node with this dialect writes it. */
export function inDialect(dialect: Dialect, method: string, result: unknown): unknown {
  if (dialect === 'null_bloom' && method.startsWith('eth_getBlockBy') && result !== null)
    return { ...(result as object), logsBloom: null }
  if (dialect === 'decimals') return JSON.parse(JSON.stringify(result), inDecimals)
  return method === 'eth_getLogs' ? logsInDialect(dialect, result as readonly LogJson[]) : result
}

/** The envelope of an answer. */
export function envelopeInDialect(dialect: Dialect, answer: object): object {
  if (dialect === 'error_null') return { error: null, ...answer }
  if (dialect === 'text_ids') return { ...answer, id: String((answer as { readonly id: unknown }).id) }
  return answer
}

function logsInDialect(dialect: Dialect, logs: readonly LogJson[]): unknown {
  if (dialect === 'null_logs') return logs.length === 0 ? null : logs
  if (dialect === 'repeated_logs') return logs.flatMap((log, at) => (at % 3 === 0 ? [log, log] : [log]))
  if (dialect === 'reversed_logs') return logs.toReversed()
  if (dialect === 'wrong_log_times')
    return logs.map((log, at) => (at % 3 === 0 ? { ...log, blockTimestamp: WRONG_TIME } : log))
  return logs
}

function inDecimals(name: string, value: unknown): unknown {
  return NUMBERS.has(name) && typeof value === 'string' ? Number(value) : value
}
