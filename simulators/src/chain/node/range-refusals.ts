/** An error of JSON-RPC. */
export class RpcError extends Error {
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

/** What was asked for, what the limit is, and a range that would be answered. */
export interface Excess {
  /** Blocks of the range; undefined where there are too many logs. */
  readonly blocks: number | undefined
  readonly limit: number
  readonly from: number
  readonly goodTo: number
}

type Refuse = (excess: Excess) => RpcError

const hex = (value: number) => `0x${value.toString(16)}`
const withCommas = (value: number) => value.toLocaleString('en-US')
const goodRange = ({ from, goodTo }: Excess) => `[${hex(from)}, ${hex(goodTo)}]`

/** The words in which providers refuse too large a range, or too many logs. Codes are no guide: they differ by provider. */
const REFUSALS = {
  infura: (excess) =>
    excess.blocks === undefined
      ? new RpcError(
          -32005,
          `query returned more than ${excess.limit} results. Try with this block range ${goodRange(excess)}.`,
          { from: hex(excess.from), to: hex(excess.goodTo), limit: excess.limit },
        )
      : new RpcError(-32602, `range ${excess.blocks} exceeds limit of ${excess.limit}`),
  alchemy: (excess) =>
    new RpcError(
      excess.blocks === undefined ? -32602 : -32600,
      `${
        excess.blocks === undefined
          ? 'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size.'
          : `You can make eth_getLogs requests with up to a ${excess.limit} block range.`
      } Based on your parameters, this block range should work: ${goodRange(excess)}`,
    ),
  /** The suggested end has been seen before the start. */
  alchemy_inverted: (excess) =>
    new RpcError(
      -32602,
      `Log response size exceeded. Based on your parameters, this block range should work: [${hex(excess.goodTo)}, ${hex(excess.from)}]`,
    ),
  quicknode: ({ limit }) => new RpcError(-32614, `eth_getLogs is limited to a ${withCommas(limit)} range`),
  blockpi: ({ limit }) => new RpcError(-32602, `eth_getLogs is limited to ${limit} block range`),
  publicnode: ({ limit }) => new RpcError(-32701, `exceed maximum block range: ${limit}`),
  cloudflare: ({ limit }) => new RpcError(-32047, `Max range: ${limit}`),
  ankr: ({ blocks, limit, from, goodTo }) =>
    blocks === undefined
      ? new RpcError(-32005, `query exceeds max results ${limit}, retry with the range ${from}-${goodTo}`)
      : new RpcError(-32600, 'block range is too wide'),
  llamarpc: () => new RpcError(-32005, 'query exceeds max results'),
  altitude: () => new RpcError(-32000, 'allowed block range threshold exceeded'),
  drpc: ({ limit }) => new RpcError(35, `ranges over ${limit} blocks are not supported on freetier`),
  chainstack: () => new RpcError(-32602, 'Block range limit exceeded.'),
  coinbase: ({ limit }) => new RpcError(-32602, `please limit the query to at most ${limit} blocks`),
  merkle: ({ limit }) =>
    new RpcError(
      -32000,
      `eth_getLogs range is too large, max is ${limit >= 1_000 ? `${limit / 1_000}k` : limit} blocks`,
    ),
  thirdweb: ({ limit }) => new RpcError(-32602, `Maximum allowed number of requested blocks is ${limit}`),
  tenderly: ({ blocks, limit }) =>
    new RpcError(
      -32602,
      'invalid params',
      `range ${blocks ?? limit + 1} is bigger than range limit ${limit}`,
    ),
  erpc: () => new RpcError(-32012, 'exceeded max allowed'),
  base: () => new RpcError(-32011, 'backend response too large'),
  optimism: () => new RpcError(-32000, 'block range too large'),
  range_threshold: () => new RpcError(-32000, 'range threshold exceeded'),
  unhealthy: () => new RpcError(-32011, 'no backend is currently healthy to serve traffic'),
  too_big: () => new RpcError(-32008, 'response is too big'),
  response_bytes: () => new RpcError(-32000, 'response size should not greater than 10000000 bytes'),
  matched_logs: ({ limit }) => new RpcError(-32005, `logs matched by query exceeds limit of ${limit}`),
  timeout: () => new RpcError(-32000, 'query timeout exceeded'),
} as const satisfies Record<string, Refuse>

export type RangeWords = keyof typeof REFUSALS
export const RANGE_WORDS = Object.keys(REFUSALS) as readonly RangeWords[]

/** The error of a provider for a range that is too large. */
export function refuseRange(words: RangeWords, excess: Excess): RpcError {
  return REFUSALS[words](excess)
}
