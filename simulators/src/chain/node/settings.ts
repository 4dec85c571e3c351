import { DIALECTS, type Dialect } from './dialects.ts'
import { RANGE_WORDS, type RangeWords } from './range-refusals.ts'

const RATE_LIMITS = ['off', 'http', 'http_retry_after', 'json', 'quota', 'bare'] as const
export const PRUNED_FORMS = ['4444', 'geth_block_0', 'nethermind', 'erigon', 'empty'] as const
export const BEYOND_HEAD = ['error', 'fewer', 'empty'] as const
const INVENTED_BLOCKS = ['off', 'next', 'changed'] as const
export const RECEIPTS = ['served', 'unknown_method', 'null', 'null_entries'] as const

/** What goes wrong. After `for_calls` calls that were affected, all of these are as in {@link NO_FAULTS} again. */
export interface FaultSettings {
  /** Calls of these methods are affected; of all methods if it is empty. */
  readonly methods: readonly string[]
  /** 0: no end. */
  readonly for_calls: number
  /** Every how many-th of these calls is hit; 0 and 1: all. */
  readonly every: number
  /** How many of a hundred of these calls are hit, by chance; 0: all. The same ones at each run. */
  readonly percent: number
  readonly delay_ms: number
  /** Answers 503 with a page for people. */
  readonly down: boolean
  /** Never answers. */
  readonly hang: boolean
  /** Closes the connection. */
  readonly drop: boolean
  /** The body ends in the middle. */
  readonly broken_json: boolean
  /** An address to which every request is redirected; '' is off. */
  readonly redirect_to: string
  /** This many spaces follow every answer. */
  readonly pad_bytes: number
  /**
   * `http`: status 429; `http_retry_after`: with the header; `json`, `quota`: status 200 with an error in words; `bare`: the
   * same without the envelope of JSON-RPC.
   */
  readonly rate_limit: (typeof RATE_LIMITS)[number]
  readonly retry_after_s: number
  /** Every block is null. */
  readonly null_block: boolean
  /** The newest block has no logs yet. */
  readonly newest_logs_empty: boolean
  /** A block has no logs where it is asked for by its hash. */
  readonly empty_by_hash: boolean
  /** In answers for a range, the logs of so many blocks in a hundred are missing; the seed chooses which. */
  readonly gap_percent: number
  readonly gap_seed: number
  /** The second log of each block with several is missing; of others the only one. */
  readonly missing_log: boolean
  /** One log says that it is of another block. */
  readonly foreign_log: boolean
  /** Two logs of a block have the same index. */
  readonly doubled_log_index: boolean
  /** `next`: a block above the newest one that does not exist; `changed`: the newest block with another time. */
  readonly invented_block: (typeof INVENTED_BLOCKS)[number]
}

/** What kind of node it is. */
export interface BehaviourSettings {
  readonly finalized_depth: number
  /** The last final block never moves beyond this one; 0 is off. */
  readonly finalized_until: number
  readonly safe_depth: number
  /** It knows the chain only up to this many blocks below the newest one. */
  readonly lag_blocks: number
  /** It learns of no new block. */
  readonly frozen: boolean
  /** Another chain id than that of the chain; 0 is off. */
  readonly chain_id: number
  /** How it writes what others write differently: see dialects.ts. */
  readonly dialect: Dialect
  /** `blockTimestamp` in logs. */
  readonly log_timestamps: boolean
  /** Replaced blocks are still found by their hash. */
  readonly keeps_orphans: boolean
  /** What eth_getLogs says of a range that ends above the newest block. */
  readonly beyond_head: (typeof BEYOND_HEAD)[number]
  /** Logs and receipts below this block are gone; 0 is off. Headers are still there. */
  readonly pruned_below: number
  readonly pruned_form: (typeof PRUNED_FORMS)[number]
  /** Whether it has eth_capabilities. */
  readonly capabilities: boolean
  readonly block_receipts: (typeof RECEIPTS)[number]
  /** Most blocks of one eth_getLogs; 0 is no limit. */
  readonly range_limit: number
  /** Most logs of one eth_getLogs; 0 is no limit. */
  readonly result_limit: number
  /** Whose words refuse what is above these limits. */
  readonly limit_words: RangeWords
  /** More logs than these are left out, without a word; 0 is off. */
  readonly silent_result_limit: number
  /** Most calls of one batch; 0 is no limit. */
  readonly batch_limit: number
  /** Most addresses in a filter of eth_getLogs; 0 is no limit. */
  readonly address_limit: number
  /** The state of contracts below this block is gone; 0 is off. */
  readonly state_pruned_below: number
  /** Whether eth_call takes the hash of a block (EIP-1898). */
  readonly calls_by_hash: boolean
  /** Whether Multicall3 is there. */
  readonly multicall: boolean
  /** Most calls of one call of Multicall3, as by a limit of gas; 0 is no limit. */
  readonly multicall_limit: number
}

export type NodeSettings = FaultSettings & BehaviourSettings

export const NO_FAULTS: FaultSettings = {
  methods: [],
  for_calls: 0,
  every: 0,
  percent: 0,
  delay_ms: 0,
  down: false,
  hang: false,
  drop: false,
  broken_json: false,
  redirect_to: '',
  pad_bytes: 0,
  rate_limit: 'off',
  retry_after_s: 1,
  null_block: false,
  newest_logs_empty: false,
  empty_by_hash: false,
  gap_percent: 0,
  gap_seed: 0,
  missing_log: false,
  foreign_log: false,
  doubled_log_index: false,
  invented_block: 'off',
}

export const DEFAULT_SETTINGS: NodeSettings = {
  ...NO_FAULTS,
  finalized_depth: 64,
  finalized_until: 0,
  safe_depth: 32,
  lag_blocks: 0,
  frozen: false,
  chain_id: 0,
  dialect: 'usual',
  log_timestamps: true,
  keeps_orphans: false,
  beyond_head: 'error',
  pruned_below: 0,
  pruned_form: '4444',
  capabilities: true,
  block_receipts: 'served',
  range_limit: 0,
  result_limit: 0,
  limit_words: 'infura',
  silent_result_limit: 0,
  batch_limit: 0,
  address_limit: 0,
  state_pruned_below: 0,
  calls_by_hash: true,
  multicall: true,
  multicall_limit: 0,
}

const CHOICES: Readonly<Partial<Record<keyof NodeSettings, readonly string[]>>> = {
  rate_limit: RATE_LIMITS,
  pruned_form: PRUNED_FORMS,
  beyond_head: BEYOND_HEAD,
  invented_block: INVENTED_BLOCKS,
  block_receipts: RECEIPTS,
  limit_words: RANGE_WORDS,
  dialect: DIALECTS,
}
const MAX_NUMBER = 2 ** 31 - 1

/** A control call is not possible. Answered with this text: 400 where it is wrong, 409 and 503 where it is not possible now. */
export class ControlError extends Error {
  readonly statusCode: 400 | 409 | 503

  constructor(message: string, statusCode: 400 | 409 | 503 = 400) {
    super(message)
    this.statusCode = statusCode
  }
}

/** The settings with some of them changed. @throws {ControlError} for an unknown name or a value that is not allowed */
export function changeSettings(settings: NodeSettings, changes: unknown): NodeSettings {
  for (const [name, value] of Object.entries(fieldsOf(changes))) {
    if (!Object.hasOwn(settings, name)) throw new ControlError(`there is no setting ${name}`)
    const expected = expectedOf(name as keyof NodeSettings, value)
    if (expected) throw new ControlError(`${name} is ${expected}`)
  }
  return { ...settings, ...fieldsOf(changes) }
}

/** @throws {ControlError} if a body is not an object */
export function fieldsOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ControlError('the body is a JSON object')
  }
  return body as Readonly<Record<string, unknown>>
}

/** What is allowed for a setting, where the value is not; undefined for an allowed value. */
function expectedOf(name: keyof NodeSettings, value: unknown): string | undefined {
  const choices = CHOICES[name]
  if (choices) return choices.includes(value as string) ? undefined : choices.join(', ')
  const current = DEFAULT_SETTINGS[name]
  if (typeof current === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false'
  if (typeof current === 'string') return typeof value === 'string' ? undefined : 'a text'
  if (Array.isArray(current)) {
    const isList = Array.isArray(value) && value.every((one) => typeof one === 'string')
    return isList ? undefined : 'a list of methods'
  }
  const isWhole = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= MAX_NUMBER
  return isWhole ? undefined : `a whole number from 0 to ${MAX_NUMBER}`
}

/** @throws {ControlError} for what is not a whole number */
export function readWhole(name: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new ControlError(`${name} is a whole number, 0 or more`)
}
