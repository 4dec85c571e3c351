/** Blocks, both ends included. */
export interface BlockRange {
  readonly fromBlock: number
  readonly toBlock: number
}

/**
 * What a node's refusal means.
 *
 * - `range_too_large`, `too_many_results`: ask for fewer blocks. The node may name a range, or how many blocks it allows.
 * - `too_many_addresses`: ask for the logs of fewer contracts at once. The node may name how many it allows.
 * - `rate_limit`: ask for the same later.
 * - `history`: the node does not have logs, receipts or state of such old blocks.
 * - `unknown_block`, `beyond_head`: the node does not have the block, or not yet.
 * - `unknown_method`: the node does not offer the method.
 * - `late`: the node took too long, by its own limit.
 * - `reverted`: the contract refused a call of its functions: the node has answered.
 * - `refused`: anything else, for example a wrong key.
 */
export type Refusal =
  | {
      readonly kind: 'range_too_large' | 'too_many_results'
      /** A range that the node would answer. */
      readonly suggested?: BlockRange
      /** How many blocks the node answers at once. */
      readonly maxBlocks?: number
    }
  | { readonly kind: 'too_many_addresses'; readonly maxAddresses?: number }
  | { readonly kind: 'rate_limit'; readonly retryAfterMs?: number }
  | {
      readonly kind:
        | 'history'
        | 'unknown_block'
        | 'beyond_head'
        | 'unknown_method'
        | 'late'
        | 'reverted'
        | 'refused'
    }

/** A refusal as a node answers it: an error object in the body, or only a status. */
export interface NodeReply {
  readonly status: number
  readonly code?: number | undefined
  readonly message: string
  /** The data of the error object: some nodes have their words here. */
  readonly data?: unknown
  readonly retryAfterMs?: number | undefined
}

/** A number in any of the ways of writing that nodes use: `10000`, `10,000`, `10k`, `0x2710`. */
const NUMBER = '(?:0x[0-9a-f]+|[0-9][0-9,_]*k?)'

/** Words with `<n>`, the number of blocks that the node allows. */
const BLOCKS_ALLOWED = [
  `range:? ${NUMBER} exceeds (?:the )?limit of <n>`,
  'limited to (?:an? )?<n>(?: blocks?)? range',
  'up to an? <n>[ -]blocks? range',
  'max(?:imum)?(?: allowed)?(?: block)? range(?: is| of)?:? <n>',
  'ranges? (?:over|above|of more than|greater than|larger than) <n> blocks',
  'at most <n> blocks',
  'max(?:imum)?(?: range)? is <n> blocks',
  'requested blocks is <n>',
  'bigger than (?:the )?range limit(?: of)? <n>',
].map((words) => new RegExp(words.replace('<n>', `(${NUMBER})`)))

/** Words with `<n>`, the number of addresses that the node allows in a filter, and words that do not say it. */
const ADDRESSES_ALLOWED = [
  `max(?:imum)?(?: number of)? addresses:? (<n>)`,
  `(?:at most|up to|more than|maximum of|limit of) (<n>) addresses`,
  'too many addresses()',
].map((words) => new RegExp(words.replace('<n>', NUMBER)))

/** How providers say that there were too many calls: of a second, of a day, or for what was paid. */
export const TOO_MANY_CALLS: readonly RegExp[] = [
  /rate.?limit/,
  /too many (?:requests|calls|connections)/,
  /throttl/,
  /quota/,
  /compute units/,
  /(?:credits?|capacity) (?:limit|exceed|exhaust|used up)|out of credits/,
  /requests? per (?:second|minute|hour|day)/,
  /request (?:count|limit|rate) (?:exceeded|reached)/,
  /(?:daily|monthly|usage|concurrency|concurrent requests?) (?:limit|cap)\b/,
  /(?:server|node|backend|system) (?:is )?(?:too )?(?:busy|overloaded)|over capacity|temporarily unavailable/,
]

/** Words of a provider whose limit is known although they do not say it. */
const BLOCKS_ALLOWED_UNSAID = [{ words: /block range is too wide/, maxBlocks: 3_000 }]

/** `[0x10, 0x1f]`, or `retry with the range 16-31`. */
const RANGES = [
  /\[\s*(0x[0-9a-f]+|\d+)\s*,\s*(0x[0-9a-f]+|\d+)\s*\]/,
  new RegExp(`with the range:? (${NUMBER}) ?(?:-|to) ?(${NUMBER})`),
]

/** How nodes say that the code of a contract failed. Words of the contract may follow, so nothing else is read of them. */
const REVERTED =
  /^(?:execution reverted|vm exception|reverted|vm execution error|(?:evm error:? )?(?:out ?of ?gas|gas uint64 overflow|invalid ?(?:fe ?)?opcode|opcode ?not ?found|invalid ?jump|stack ?(?:underflow|overflow|limit)|return data out of bounds|out ?of ?offset|write protection|state ?change ?during ?static ?call|call ?not ?allowed ?inside ?static|not ?activated))/

const MEANINGS: readonly { readonly kind: Refusal['kind']; readonly words: RegExp }[] = [
  {
    kind: 'range_too_large',
    words:
      /block range (?:is )?too (?:large|wide|big)|(?:block )?range limit exceeded|range threshold exceeded|range is too large|range too large|exceeds? (?:the )?max(?:imum)? (?:allowed )?(?:block )?range/,
  },
  { kind: 'rate_limit', words: new RegExp(TOO_MANY_CALLS.map(({ source }) => source).join('|')) },
  {
    kind: 'too_many_results',
    words:
      /more than [\d,]+ (?:results|logs)|exceeds? (?:the )?max(?:imum)? (?:number of )?results|too many (?:results|logs)|logs matched by query exceeds|exceeded max allowed|backend response too large|response (?:is )?too (?:big|large)|response size|no backend is currently healthy|query timeout exceeded/,
  },
  { kind: 'range_too_large', words: /with (?:this|the) (?:block )?range|block range should work/ },
  {
    kind: 'history',
    words:
      /pruned|history (?:is )?(?:unavailable|not available)|historical (?:state|data|logs|blocks?)[\w ]*(?:unavailable|not available)|receipts? not available|data before .* (?:is )?not available|failed to get logs for block|missing trie node|(?:world )?state (?:is )?(?:unavailable|not available)|no state available|archive (?:node|mode|data|request)/,
  },
  {
    kind: 'beyond_head',
    words:
      /beyond (?:the )?(?:current )?head|block ?out ?of ?range|after (?:the )?last (?:accepted )?block|(?:greater|higher) than (?:the )?(?:latest|current|head)|(?:ahead of|past) (?:the )?(?:chain )?head/,
  },
  {
    kind: 'unknown_method',
    words:
      /method[^.]* (?:not found|not supported|not available|not allowed|not whitelisted|does not exist|is unsupported|disabled)|unsupported method|unknown method/,
  },
  {
    kind: 'unknown_block',
    words:
      /unknown block|block[^.]* (?:not found|does ?n.t exist|does not exist|cannot be found)|header[^.]* not found|(?:finalized|safe) block not (?:found|available)|resource not found|not currently canonical/,
  },
  { kind: 'late', words: /timed? ?out|deadline exceeded|took too long/ },
]

/** A message may be as long as the answer; its beginning is enough, and bounds what the patterns cost. */
const MAX_WORDS = 2_000

const EXECUTION_REVERTED = 3
const METHOD_NOT_FOUND = -32_601
const PRUNED_HISTORY = 4_444
const RESOURCE_NOT_FOUND = -32_001
const LIMIT_EXCEEDED = -32_005

/**
 * Reads what a refusal means from its words: providers use the same code for different things, and different codes for the
 * same. Words about ranges or results come first; a status of 429 means a rate limit only where the words say nothing else.
 *
 * @example
 * readRefusal({ status: 200, code: -32600, message: 'eth_getLogs is limited to a 10,000 range' }) // { kind: 'range_too_large', maxBlocks: 10000 }
 * readRefusal({ status: 429, message: '', retryAfterMs: 2000 }) // { kind: 'rate_limit', retryAfterMs: 2000 }
 */
export function readRefusal(reply: NodeReply): Refusal {
  const words = wordsOf(reply)
  if (REVERTED.test(words)) return { kind: 'reverted' }
  const addresses = ADDRESSES_ALLOWED.map((pattern) => pattern.exec(words)).find(Boolean)
  if (addresses) {
    const maxAddresses = addresses[1] ? atLeastOne(readNumber(addresses[1])) : undefined
    return { kind: 'too_many_addresses', ...(maxAddresses !== undefined && { maxAddresses }) }
  }
  const maxBlocks = blocksAllowed(words)
  const kind = maxBlocks === undefined ? meaningOf(words, reply) : 'range_too_large'
  if (kind === 'rate_limit') {
    return reply.retryAfterMs === undefined ? { kind } : { kind, retryAfterMs: reply.retryAfterMs }
  }
  const suggested = suggestedRange(words)
  if (kind === 'range_too_large' || kind === 'too_many_results') {
    return {
      kind,
      ...(suggested && { suggested }),
      ...(maxBlocks !== undefined && { maxBlocks }),
    }
  }
  return { kind }
}

/** Calls whose answer may be too large for a node. */
const FOR_MANY: ReadonlySet<string> = new Set(['eth_getLogs', 'eth_getBlockReceipts'])

/**
 * As {@link readRefusal}, for a single call: a refusal for the size of a range or of the answer only makes sense for calls
 * that return much. Of any other call it means that the node refuses it, and another node is asked.
 *
 * @example
 * readRefusalOf('eth_chainId', { status: 200, message: 'block range too large' }) // { kind: 'refused' }
 */
export function readRefusalOf(method: string, reply: NodeReply): Refusal {
  const refusal = readRefusal(reply)
  const isForSize = ['range_too_large', 'too_many_results', 'too_many_addresses'].includes(refusal.kind)
  return isForSize && !FOR_MANY.has(method) ? { kind: 'refused' } : refusal
}

/** The words of a refusal in lower case, those of its data included. */
function wordsOf({ message, data }: NodeReply): string {
  const more = typeof data === 'string' ? data : textOf(data)
  return `${message.slice(0, MAX_WORDS)}\n${more.slice(0, MAX_WORDS)}`.toLowerCase()
}

/** Without words where the data are nested too deeply to be written. */
function textOf(data: unknown): string {
  if (data === undefined || data === null) return ''
  try {
    return JSON.stringify(data)
  } catch {
    return ''
  }
}

function meaningOf(words: string, { status, code, retryAfterMs }: NodeReply): Refusal['kind'] {
  const meaning = MEANINGS.find((each) => each.words.test(words))
  if (meaning) return meaning.kind
  if (code === METHOD_NOT_FOUND) return 'unknown_method'
  if (code === PRUNED_HISTORY) return 'history'
  if (code === RESOURCE_NOT_FOUND) return 'unknown_block'
  if (code === EXECUTION_REVERTED) return 'reverted'
  if (status === 429 || code === 429 || code === LIMIT_EXCEEDED) return 'rate_limit'
  if (status === 503 && retryAfterMs !== undefined) return 'rate_limit'
  if (status === 413) return 'too_many_results'
  if (status === 408 || status === 504) return 'late'
  return 'refused'
}

function blocksAllowed(words: string): number | undefined {
  for (const pattern of BLOCKS_ALLOWED) {
    const number = pattern.exec(words)?.[1]
    if (number !== undefined) return atLeastOne(readNumber(number))
  }
  return BLOCKS_ALLOWED_UNSAID.find((each) => each.words.test(words))?.maxBlocks
}

function suggestedRange(words: string): BlockRange | undefined {
  for (const pattern of RANGES) {
    const [, one, other] = pattern.exec(words) ?? []
    if (one === undefined || other === undefined) continue
    const [a, b] = [readNumber(one), readNumber(other)]
    // A provider has been seen to name the end first
    if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
      return { fromBlock: Math.min(a, b), toBlock: Math.max(a, b) }
    }
  }
  return undefined
}

function atLeastOne(number: number): number | undefined {
  return Number.isSafeInteger(number) && number >= 1 ? number : undefined
}

function readNumber(text: string): number {
  if (text.startsWith('0x')) return Number.parseInt(text, 16)
  const isThousands = text.endsWith('k')
  return Number(text.replace(/[,_k]/g, '')) * (isThousands ? 1_000 : 1)
}
