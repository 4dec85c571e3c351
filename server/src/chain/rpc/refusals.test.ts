import { expect, test } from 'vitest'
import { type NodeReply, type Refusal, readRefusal, readRefusalOf, TOO_MANY_CALLS } from './refusals.ts'

const range = (maxBlocks?: number): Refusal => ({
  kind: 'range_too_large',
  ...(maxBlocks !== undefined && { maxBlocks }),
})
const results: Refusal = { kind: 'too_many_results' }

/** A sentence of a provider for each row of {@link TOO_MANY_CALLS}. */
const TOO_MANY_SENTENCES = [
  'request rate limited',
  'Too many connections, please slow down',
  'request throttled',
  'monthly quota exceeded',
  'Your app has exceeded its compute units per second capacity.',
  'Your credits limit was reached',
  'at most 25 requests per second',
  'daily request count exceeded',
  'you have reached your daily limit',
  'the backend is overloaded',
]

test('each way to say that there were too many calls has a sentence', () => {
  expect(TOO_MANY_SENTENCES.map((words) => readRefusal({ status: 200, message: words }).kind)).toEqual(
    TOO_MANY_CALLS.map(() => 'rate_limit'),
  )
  const rows = TOO_MANY_SENTENCES.map((words) =>
    TOO_MANY_CALLS.findIndex((row) => row.test(words.toLowerCase())),
  )
  expect(rows).toEqual([...TOO_MANY_CALLS.keys()])
})

test.each<[provider: string, words: string, Refusal]>([
  [
    'Infura',
    'query returned more than 10000 results. Try with this block range [0x4B7382, 0x4b73A0].',
    { kind: 'too_many_results', suggested: { fromBlock: 0x4b7382, toBlock: 0x4b73a0 } },
  ],
  ['Infura', 'range 20000 exceeds limit of 10000', range(10_000)],
  [
    'Alchemy',
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0x10, 0x1f]',
    { kind: 'range_too_large', suggested: { fromBlock: 16, toBlock: 31 }, maxBlocks: 2_000 },
  ],
  [
    'Alchemy, ends swapped',
    'this block range should work: [0x1f, 0x10]',
    { kind: 'range_too_large', suggested: { fromBlock: 16, toBlock: 31 } },
  ],
  [
    'Alchemy, free plan',
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 500 block range.',
    range(500),
  ],
  ['QuickNode', 'eth_getLogs is limited to a 10,000 range', range(10_000)],
  ['1RPC, free plan', 'eth_getLogs is limited to a 5 range', range(5)],
  ['BlockPI', 'eth_getLogs is limited to 1024 block range', range(1_024)],
  ['PublicNode', 'exceed maximum block range: 50000', range(50_000)],
  ['Cloudflare', 'Max range: 800', range(800)],
  ['Ankr', 'block range is too wide', range(3_000)],
  [
    'Ankr',
    'query exceeds max results 20000, retry with the range 4944642-4945000',
    { kind: 'too_many_results', suggested: { fromBlock: 4_944_642, toBlock: 4_945_000 } },
  ],
  ['LlamaRPC', 'query exceeds max results', results],
  ['Altitude', 'allowed block range threshold exceeded', range()],
  ['dRPC', 'ranges over 10000 blocks are not supported on freetier', range(10_000)],
  ['Chainstack', 'Block range limit exceeded.', range()],
  ['Coinbase', 'please limit the query to at most 1000 blocks', range(1_000)],
  ['Merkle', 'eth_getLogs range is too large, max is 1k blocks', range(1_000)],
  ['Merkle', 'eth_getLogs range is too large, max is 10k blocks', range(10_000)],
  ['thirdweb', 'Maximum allowed number of requested blocks is 3500', range(3_500)],
  ['a number in hex', 'maximum block range: 0x2710', range(10_000)],
  ['eRPC', 'exceeded max allowed', results],
  ['eRPC', 'range threshold exceeded', range()],
  ['Base', 'block range too large', range()],
  ['Optimism', 'Block range is too large', range()],
  ['another', 'backend response too large', results],
  ['Optimism', 'no backend is currently healthy to serve traffic', results],
  ['another', 'response is too big', results],
  ['another', 'response size should not greater than 10000000 bytes', results],
  ['another', 'logs matched by query exceeds limit of 10000', results],
  ['another', 'query timeout exceeded', results],
  ['Infura', 'daily request count exceeded, request rate limited', { kind: 'rate_limit' }],
  ['Alchemy', 'Your app has exceeded its compute units per second capacity.', { kind: 'rate_limit' }],
  ['another', 'Too Many Requests', { kind: 'rate_limit' }],
  ['another', 'rate limit exceeded', { kind: 'rate_limit' }],
  ['another', 'rate-limit reached, at most 25 requests per second', { kind: 'rate_limit' }],
  ['another', 'request throttled', { kind: 'rate_limit' }],
  ['another', 'monthly quota exceeded', { kind: 'rate_limit' }],
  ['another', 'credits limited', { kind: 'rate_limit' }],
  ['another', 'Monthly capacity limit exceeded. Visit the dashboard to upgrade.', { kind: 'rate_limit' }],
  ['another', 'exceed max addresses: 5', { kind: 'too_many_addresses', maxAddresses: 5 }],
  ['another', 'too many addresses in the filter', { kind: 'too_many_addresses' }],
  ['geth, reth', 'pruned history unavailable', { kind: 'history' }],
  ['geth', 'failed to get logs for block #0 (0xd4e567)', { kind: 'history' }],
  ['Nethermind', 'Receipt not available for From block 4944642.', { kind: 'history' }],
  ['Erigon', 'data before txNum=1234567 is not available', { kind: 'history' }],
  ['geth', 'missing trie node 12ab (path )', { kind: 'history' }],
  ['geth', 'unknown block', { kind: 'unknown_block' }],
  ['Nethermind', 'Block 0xabc could not be found: header not found', { kind: 'unknown_block' }],
  ['geth before the merge', 'finalized block not found', { kind: 'unknown_block' }],
  ['geth', 'block range extends beyond current head block', { kind: 'beyond_head' }],
  ['anvil', 'BlockOutOfRangeError: block height is 4 but requested was 9', { kind: 'beyond_head' }],
  [
    'geth',
    'the method eth_capabilities does not exist/is not available',
    {
      kind: 'unknown_method',
    },
  ],
  ['a proxy', 'Unsupported method: eth_getBlockReceipts', { kind: 'unknown_method' }],
  ['a proxy', 'upstream request timed out', { kind: 'late' }],
  ['geth', 'execution reverted: not found', { kind: 'reverted' }],
  ['geth, words of the contract', 'execution reverted: too many addresses', { kind: 'reverted' }],
  ['geth, words of the contract', 'execution reverted: at most 5 blocks', { kind: 'reverted' }],
  ['geth', 'out of gas', { kind: 'reverted' }],
  ['geth', 'invalid opcode: INVALID', { kind: 'reverted' }],
  ['geth', 'stack underflow (0 <=> 1)', { kind: 'reverted' }],
  ['anvil', 'EVM error OutOfGas', { kind: 'reverted' }],
  ['anything else', 'invalid api key', { kind: 'refused' }],
])('%s: %s', (_provider, words, meaning) => {
  const inData = { code: -32_000, message: 'invalid params', data: words }
  const replies: NodeReply[] = [
    { status: 200, code: -32_005, message: words },
    { status: 200, code: -32_600, message: words },
    { status: 503, code: -32_602, message: words },
    { status: 429, code: 35, message: words },
    { status: 200, ...inData },
    { status: 400, ...inData, data: { trace_id: 'ab12', reason: words } },
  ]
  // Of a revert, the data are what the contract says
  for (const reply of meaning.kind === 'reverted' ? replies.slice(0, 4) : replies) {
    const isOther = meaning.kind === 'refused' && (reply.status === 429 || reply.code === -32_005)
    expect(readRefusal(reply), JSON.stringify(reply)).toEqual(isOther ? { kind: 'rate_limit' } : meaning)
  }
})

test('Tenderly: the words are in the data alone', () => {
  expect(
    readRefusal({
      status: 200,
      code: -32_602,
      message: 'invalid params',
      data: 'range 200000 is bigger than range limit 100000',
    }),
  ).toEqual(range(100_000))
})

test('without words, the code or the status says what it means', () => {
  expect(readRefusal({ status: 200, code: -32_601, message: '' }).kind).toBe('unknown_method')
  expect(readRefusal({ status: 200, code: 4_444, message: '' }).kind).toBe('history')
  expect(readRefusal({ status: 200, code: -32_001, message: '' }).kind).toBe('unknown_block')
  expect(readRefusal({ status: 413, message: '' }).kind).toBe('too_many_results')
  expect(readRefusal({ status: 504, message: '' }).kind).toBe('late')
  expect(readRefusal({ status: 502, message: '' }).kind).toBe('refused')
  expect(readRefusal({ status: 503, message: '', retryAfterMs: 500 }).kind).toBe('rate_limit')
  expect(readRefusal({ status: 429, message: '', retryAfterMs: 2_000 })).toEqual({
    kind: 'rate_limit',
    retryAfterMs: 2_000,
  })
})

test('a very long message costs no time', () => {
  expect(readRefusal({ status: 200, message: 'block '.repeat(1_000_000) }).kind).toBe('refused')
})

test('only calls that return much can be refused for their size', () => {
  const reply = { status: 200, message: 'block range too large' }
  expect(readRefusalOf('eth_getLogs', reply)).toEqual(range())
  expect(readRefusalOf('eth_getBlockByNumber', reply)).toEqual({ kind: 'refused' })
  expect(readRefusalOf('eth_call', { status: 413, message: '' })).toEqual({ kind: 'refused' })
  expect(readRefusalOf('eth_call', { status: 429, message: '' })).toEqual({ kind: 'rate_limit' })
})

test('data that are nested too deeply to be written have no words', () => {
  const data: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
  expect(() => JSON.stringify(data)).toThrow(RangeError)
  expect(readRefusal({ status: 200, message: 'execution reverted', data })).toEqual({ kind: 'reverted' })
})
