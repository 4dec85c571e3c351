import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { MadeChain } from './made-chain.ts'
import { groupsOf, NETWORK, parcelsAfter, transferOf } from './made-logs.ts'

/**
 * An Ethereum node with a made-up history, as a program of its own. It answers as fast as it can; real logs come from
 * `landpass simulate chain`, which runs the contracts and is slower.
 *
 *   POST /          JSON-RPC
 *   POST /control   { "final": 64 } sets how many blocks are not final, at least; { "drop": 64 } removes the newest blocks;
 *                   { "add": [{ "transfers": 10, "first": 0, "timeS": 1790000000 }] } adds blocks
 */

interface Call {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

interface Control {
  readonly final?: number
  readonly drop?: number
  readonly add?: readonly { readonly transfers: number; readonly first?: number; readonly timeS: number }[]
}

interface LogFilter {
  readonly address: readonly string[]
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly blockHash?: string
}

const { values } = parseArgs({ options: { logs: { type: 'string' }, keep: { type: 'boolean' } } })
const chain = new MadeChain(groupsOf(Number(values.logs)), { keepsTexts: values.keep ?? false })
/** So many of the newest blocks are not final. */
let openBlocks = 0
let transferred = 0
/** Each transfer goes to another owner than the one before. */
let owner = 0

const server = createServer(async (request, response) => {
  const body = await readJson(request)
  const text = request.url === '/control' ? control(body as Control) : answerText(body as Call | Call[])
  response.setHeader('content-type', 'application/json')
  response.end(text)
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.send?.({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})

function answerText(body: Call | Call[]): string {
  return Array.isArray(body) ? `[${body.map(replyText).join(',')}]` : replyText(body)
}

function replyText({ id, method, params }: Call): string {
  const result = resultText(method, params)
  return result === undefined
    ? `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"the method ${method} does not exist"}}`
    : `{"jsonrpc":"2.0","id":${id},"result":${result}}`
}

function resultText(method: string, params: readonly unknown[]): string | undefined {
  const [first] = params
  switch (method) {
    case 'eth_chainId':
      return `"0x${NETWORK.chainId.toString(16)}"`
    case 'eth_getBlockByNumber':
      return JSON.stringify(chain.header(numberOf(String(first))))
    case 'eth_getBlockByHash':
      return JSON.stringify(chain.headerByHash(String(first)))
    case 'eth_getLogs':
      return logsText(first as LogFilter)
    case 'eth_call':
      return `"0x${parcelsAfter(chain.groups).toString(16).padStart(64, '0')}"` // Only the number of parcels is asked for.
    default:
      return undefined
  }
}

function logsText({ address, fromBlock, toBlock, blockHash }: LogFilter): string {
  if (blockHash === undefined) return chain.logsText(Number(fromBlock), Number(toBlock), address)
  const number = Number.parseInt(blockHash.slice(10), 16)
  return chain.logsText(number, number, address)
}

function numberOf(name: string): number {
  if (name === 'latest') return chain.head
  return name === 'finalized' || name === 'safe' ? finalNumber() : Number(name)
}

/** As on mainnet, blocks become final 32 at a time. */
function finalNumber(): number {
  const number = chain.head - openBlocks
  return openBlocks === 0 ? number : number - (number % 32)
}

function control({ final, drop, add = [] }: Control): string {
  openBlocks = final ?? openBlocks
  if (drop !== undefined) chain.drop(drop)
  for (const { transfers, first = transferred, timeS } of add) {
    transferred = first + transfers
    const logs = Array.from({ length: transfers }, (_, at) => [transferOf(first + at, ++owner)])
    chain.add(logs, timeS)
  }
  return JSON.stringify({ number: chain.head, hash: chain.hashOf(chain.head) })
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString())
}
