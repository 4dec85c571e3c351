import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { onTestFinished } from 'vitest'
import { bloomOf } from '../../../src/chain/proofs/bloom.ts'
import { hashOfHeader } from '../../../src/chain/proofs/header-hash.ts'
import { type Receipt, receiptsRootOf } from '../../../src/chain/proofs/receipts-root.ts'
import type { Timing } from '../../../src/chain/rpc/timing.ts'

export const LAND = `0x${'1a'.repeat(20)}`
export const ESTATE = `0x${'2b'.repeat(20)}`

const HASH = (byte: string) => `0x${byte.repeat(32)}`

/** A block as a node answers it, with its logs and receipts. All hashes and roots are right. */
export interface ScriptedBlock {
  readonly header: Readonly<Record<string, string>>
  readonly logs: readonly Readonly<Record<string, unknown>>[]
  readonly receipts: readonly Readonly<Record<string, unknown>>[]
}

export interface ChainOptions {
  readonly from?: number
  readonly count: number
  /** Of the first block. */
  readonly parentHash?: string
  /** Makes another chain of the same numbers. */
  readonly salt?: string
  /** How many logs of LAND a block has. */
  readonly logsAt?: (number: number) => number
}

/** Blocks that follow each other, 12 seconds apart. */
export function makeChain({
  from = 0,
  count,
  parentHash,
  salt = '00',
  logsAt,
}: ChainOptions): ScriptedBlock[] {
  const blocks: ScriptedBlock[] = []
  for (let number = from; number < from + count; number++) {
    const parent = blocks.at(-1)?.header.hash ?? parentHash ?? HASH('00')
    blocks.push(makeBlock(number, parent, salt, logsAt?.(number) ?? 0))
  }
  return blocks
}

/**
 * A fixed clock. A pause ends at once, and moves the clock. A deadline passes when only calls to hanging nodes are left:
 * so no test waits, and none depends on the speed of the machine.
 */
export class FixedTiming implements Timing {
  readonly pauses: number[] = []
  private timeMs = 0
  private readonly deadlines = new Set<() => void>()
  private hanging = 0

  readonly startTimer = (_ms: number, callback: () => void): (() => void) => {
    this.deadlines.add(callback)
    return () => {
      this.deadlines.delete(callback)
      this.passDeadlines()
    }
  }

  /** A node has received a call that it does not answer. */
  readonly noteHang = (): void => {
    this.hanging += 1
    this.passDeadlines()
  }

  private passDeadlines(): void {
    if (this.hanging === 0 || this.deadlines.size > this.hanging) return
    this.hanging = 0
    for (const callback of [...this.deadlines]) callback()
  }

  nowMs(): number {
    return this.timeMs
  }

  async pause(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.pauses.push(ms)
    this.timeMs += ms
    await new Promise(setImmediate) // Loops of pauses alone yield to the event loop.
  }

  advance(ms: number): void {
    this.timeMs += ms
  }
}

/** What a node does instead of its answer. */
export type Fault =
  | 'hang'
  /** Closes the connection without an answer. */
  | 'break'
  | { readonly result: unknown }
  | { readonly error: unknown; readonly status?: number; readonly headers?: Record<string, string> }
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }

export interface ScriptedCall {
  readonly method: string
  readonly params: readonly unknown[]
}

interface Envelope extends ScriptedCall {
  readonly id: number
}

/** A node in this process, on a port of its own, with a chain of its own and faults that a test sets. */
export class ScriptedNode {
  blocks: readonly ScriptedBlock[]
  chainId = 1
  finalized: number | undefined
  /** Called for each call; undefined: the node answers as it should. */
  fault: (call: ScriptedCall) => Fault | undefined = () => undefined
  /** Called for each request that is a batch. */
  batchFault: (calls: readonly ScriptedCall[]) => Fault | undefined = () => undefined
  isCompressed = false
  /** Called when it does not answer a call. */
  onHang: () => void = () => undefined
  readonly calls: ScriptedCall[] = []
  readonly requests: { readonly url: string; readonly authorization: string | undefined }[] = []
  readonly port: number

  private constructor(blocks: readonly ScriptedBlock[], port: number) {
    this.blocks = blocks
    this.port = port
  }

  /** Starts a node that ends with the test. */
  static async start(blocks: readonly ScriptedBlock[]): Promise<ScriptedNode> {
    const server = createServer((request, response) => void node.serve(request, response))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const node = new ScriptedNode(blocks, (server.address() as AddressInfo).port)
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return node
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Methods of the calls so far, and forgets them. */
  takeMethods(): readonly string[] {
    return this.calls.splice(0).map(({ method }) => method)
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push({ url: request.url ?? '', authorization: request.headers.authorization })
    const body = (await readJson(request)) as Envelope | Envelope[]
    const calls = Array.isArray(body) ? body : [body]
    this.calls.push(...calls)
    const fault = Array.isArray(body) ? this.batchFault(calls) : this.fault(body)
    if (fault === 'hang') {
      this.onHang()
      return
    }
    if (fault === 'break') {
      request.socket.destroy()
      return
    }
    if (fault && 'status' in fault && !('error' in fault)) {
      response.writeHead(fault.status, fault.headers).end(fault.body ?? '')
      return
    }
    if (fault && 'error' in fault) {
      const answer = { jsonrpc: '2.0', id: Array.isArray(body) ? null : body.id, error: fault.error }
      response.writeHead(fault.status ?? 200, fault.headers).end(JSON.stringify(answer))
      return
    }
    const answers = calls.map((call) => this.answer(call, Array.isArray(body) ? this.fault(call) : fault))
    const text = JSON.stringify(Array.isArray(body) ? answers.toReversed() : answers[0])
    if (!this.isCompressed) response.end(text)
    else response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text))
  }

  private answer(call: Envelope, fault: Fault | undefined): unknown {
    const envelope = { jsonrpc: '2.0', id: call.id }
    if (typeof fault === 'object' && 'error' in fault) return { ...envelope, error: fault.error }
    if (typeof fault === 'object' && 'result' in fault) return { ...envelope, result: fault.result }
    const result = this.resultOf(call)
    return result === undefined
      ? { ...envelope, error: { code: -32_601, message: 'the method does not exist' } }
      : { ...envelope, result }
  }

  private resultOf({ method, params }: ScriptedCall): unknown {
    const [first] = params
    if (method === 'eth_chainId') return `0x${this.chainId.toString(16)}`
    if (method === 'eth_getBlockByNumber') return this.blockNamed(first)?.header ?? null
    if (method === 'eth_getBlockByHash') return this.blockOf(first)?.header ?? null
    if (method === 'eth_getBlockReceipts') return this.blockOf(first)?.receipts ?? null
    if (method === 'eth_getLogs') return this.logsFor(first as Readonly<Record<string, unknown>>)
    return undefined
  }

  private blockNamed(name: unknown): ScriptedBlock | undefined {
    if (name === 'latest') return this.blocks.at(-1)
    if (name === 'finalized') {
      return this.finalized === undefined ? undefined : this.blockAt(this.finalized)
    }
    return this.blockAt(Number(name))
  }

  private blockAt(number: number): ScriptedBlock | undefined {
    return this.blocks.find(({ header }) => Number(header.number) === number)
  }

  private blockOf(hash: unknown): ScriptedBlock | undefined {
    return this.blocks.find(({ header }) => header.hash === hash)
  }

  private logsFor(filter: Readonly<Record<string, unknown>>): unknown {
    const { fromBlock, toBlock, blockHash, address } = filter
    const isWanted = ({ header }: ScriptedBlock) =>
      blockHash === undefined
        ? Number(header.number) >= Number(fromBlock) && Number(header.number) <= Number(toBlock)
        : header.hash === blockHash
    const addresses = address as readonly unknown[]
    return this.blocks
      .filter(isWanted)
      .flatMap(({ logs }) => logs.filter((log) => addresses.includes(log.address)))
  }
}

/** A call's range of blocks. */
export function rangeOf({ params }: ScriptedCall): { readonly from: number; readonly to: number } {
  const { fromBlock, toBlock } = params[0] as Readonly<Record<string, string>>
  return { from: Number(fromBlock), to: Number(toBlock) }
}

function makeBlock(number: number, parentHash: string, salt: string, logCount: number): ScriptedBlock {
  const txHash = `0x${salt.repeat(16)}${number.toString(16).padStart(32, '0')}`
  const bare = Array.from({ length: logCount }, (_, at) => ({
    address: LAND,
    topics: [HASH('ab')],
    data: `0x${at.toString(16).padStart(64, '0')}`,
  }))
  const receipt = {
    type: 2,
    outcome: 1,
    cumulativeGasUsed: '0x5208',
    logsBloom: bloomOf(bare),
    // Hashed by these fields alone
    logs: bare as unknown as Receipt['logs'],
  }
  const receipts = logCount === 0 ? [] : [receipt]
  const fields = {
    parentHash,
    sha3Uncles: HASH('1d'),
    miner: `0x${salt.repeat(20)}`,
    stateRoot: HASH('11'),
    transactionsRoot: HASH('22'),
    receiptsRoot: receiptsRootOf(receipts),
    logsBloom: bloomOf(bare),
    difficulty: '0x0',
    number: `0x${number.toString(16)}`,
    gasLimit: '0x1c9c380',
    gasUsed: '0x5208',
    timestamp: `0x${(1_600_000_000 + 12 * number).toString(16)}`,
    extraData: '0x',
    mixHash: HASH('33'),
    nonce: '0x0000000000000000',
    baseFeePerGas: '0x7',
  }
  const header = { ...fields, hash: hashOfHeader(fields) ?? '' }
  const place = {
    blockNumber: header.number,
    blockHash: header.hash,
    transactionHash: txHash,
    transactionIndex: '0x0',
  }
  const logs = bare.map((log, at) => ({
    ...log,
    ...place,
    logIndex: `0x${at.toString(16)}`,
    blockTimestamp: header.timestamp,
    removed: false,
  }))
  const wireReceipts = receipts.map(({ type, outcome, ...rest }) => ({
    ...rest,
    ...place,
    type: `0x${type.toString(16)}`,
    status: `0x${outcome}`,
    logs,
  }))
  return { header, logs, receipts: wireReceipts }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}
