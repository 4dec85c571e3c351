import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import {
  ESTATE,
  type Fault,
  FixedTiming,
  LAND,
  makeChain,
  ScriptedNode,
} from '../../../test/support/chain/scripted-node.ts'
import { runs } from '../../../test/support/run/property-seed.ts'
import type { RawLog } from '../chain-types.ts'
import { PackedLogs } from '../packed-logs.ts'
import { CallCounters } from './call-counters.ts'
import type { JsonRpcOptions } from './json-rpc.ts'
import { EthereumNode } from './node.ts'
import { maskSecrets, readNodeAddress } from './node-address.ts'
import { NodeError } from './node-error.ts'

const CHAIN = makeChain({ from: 100, count: 250, logsAt: (number) => number % 4 })
const ADDRESSES = [LAND, ESTATE]

test('headers, logs and receipts come in the form of this program', async () => {
  const { node, scripted } = await start()
  scripted.finalized = 310
  scripted.isCompressed = true

  expect(await node.chainId()).toBe(1)
  const head = await node.headerAt('latest')
  expect(head).toEqual({
    number: 349,
    hash: CHAIN[249]?.header.hash,
    parentHash: CHAIN[248]?.header.hash,
    timeS: 1_600_000_000 + 12 * 349,
    logsBloom: CHAIN[249]?.header.logsBloom,
    receiptsRoot: CHAIN[249]?.header.receiptsRoot,
    isHashChecked: true,
  })
  expect((await node.headerAt('finalized'))?.number).toBe(310)
  expect(await node.headerAt('safe')).toBeUndefined()
  expect(await node.headerAt(99)).toBeUndefined()
  expect(await node.headerOf(hashAt(107))).toMatchObject({ number: 107 })
  expect(await node.headerOf(`0x${'ff'.repeat(32)}`)).toBeUndefined()
  const logs = await node.logsOfBlock(refAt(107), ADDRESSES)
  expect(logs.map(({ logIndex }) => logIndex)).toEqual([0, 1, 2])
  expect(logs[1]).toMatchObject({ address: LAND, blockNumber: 107, blockTimeS: 1_600_000_000 + 12 * 107 })
  expect(await node.logsOfRange({ fromBlock: 104, toBlock: 107 }, ADDRESSES)).toHaveLength(6)
  expect((await node.receiptsOf(hashAt(107)))?.[0]?.logs).toEqual(logs)
  expect(await node.capabilities()).toBeUndefined()
})

test('values in upper case and old receipts are read, and unknown fields leave the hash unchecked', async () => {
  const { node, scripted } = await start()
  const { header } = CHAIN[7]!
  const upper = (text = '') => `0x${text.slice(2).toUpperCase()}`

  scripted.fault = () => ({ result: { ...header, hash: upper(header.hash), number: '0x06B' } })
  expect(await node.headerAt(107)).toMatchObject({ number: 107, hash: header.hash, isHashChecked: true })
  scripted.fault = () => ({ result: { ...header, gasUsed: '0x1', futureRoot: '0x00' } })
  expect(await node.headerAt(107)).toMatchObject({ number: 107, isHashChecked: false })
  scripted.fault = () => ({
    result: CHAIN[7]!.receipts.map(({ status: _, ...rest }) => ({ ...rest, root: `0x${'44'.repeat(32)}` })),
  })
  expect((await node.receiptsOf(header.hash!))?.[0]?.outcome).toBe(`0x${'44'.repeat(32)}`)
  for (const [logs, oldestLogs] of [
    [{ disabled: false, oldestBlock: '0xed14f2' }, 15_537_394],
    [{ disabled: true }, 'disabled'],
    [undefined, undefined],
  ]) {
    scripted.fault = () => ({ result: { logs } })
    expect(await node.capabilities()).toEqual({ oldestLogs })
  }
})

test.each<[string, unknown]>([
  ['a header of another number', CHAIN[1]!.header],
  ['a header whose fields do not give its hash', { ...CHAIN[0]!.header, timestamp: '0x1' }],
  ['a header without a parent', { ...CHAIN[0]!.header, parentHash: null }],
  ['a number that is none', { ...CHAIN[0]!.header, number: '100 blocks' }],
  ['a number below 0', { ...CHAIN[0]!.header, number: -100 }],
  ['a list', [CHAIN[0]!.header]],
  ['a text', 'hello'],
])('refused: %s', async (_name, result) => {
  const { node, scripted } = await start()
  scripted.fault = () => ({ result })

  await expect(node.headerAt(100)).rejects.toMatchObject({
    kind: 'wrong_answer',
    message: expect.stringContaining(': eth_getBlockByNumber: '),
  })
  expect(node.health.isTrusted).toBe(false)
})

const LOGS = CHAIN[7]!.logs
test.each<[string, unknown]>([
  ['a log of another block', [{ ...LOGS[0], blockHash: hashAt(108) }]],
  ['a removed log', [{ ...LOGS[0], removed: true }]],
  ['two logs with one index', [LOGS[0], { ...LOGS[1], logIndex: '0x0' }]],
  ['two logs with one index, not next to each other', [LOGS[0], LOGS[1], { ...LOGS[0], data: '0x' }]],
  ['a log of an address that was not asked for', [{ ...LOGS[0], address: `0x${'99'.repeat(20)}` }]],
  ['two transactions with one index', [LOGS[0], { ...LOGS[1], transactionHash: `0x${'77'.repeat(32)}` }]],
  ['a pending log', [{ ...LOGS[0], blockNumber: null }]],
  ['an index beyond 2^53', [{ ...LOGS[0], logIndex: '0xffffffffffffff' }]],
  ['data with half a byte', [{ ...LOGS[0], data: '0x123' }]],
  ['five topics', [{ ...LOGS[0], topics: Array.from({ length: 5 }, () => LOGS[0]!.blockHash) }]],
  ['no list', {}],
])('refused in the logs of a block: %s', async (_name, result) => {
  const { node, scripted } = await start()
  scripted.fault = () => ({ result })

  await expect(node.logsOfBlock(refAt(107), ADDRESSES)).rejects.toMatchObject({ kind: 'wrong_answer' })
})

test('logs in another order, or the same one twice, are read; and null is no logs', async () => {
  const { node, scripted } = await start()
  const all = [...LOGS, ...CHAIN[6]!.logs, ...CHAIN[5]!.logs, LOGS[0]!]
  const indexes = (logs: Iterable<RawLog>) =>
    [...logs].map(({ blockNumber, logIndex }) => [blockNumber, logIndex])
  scripted.fault = () => ({ result: [LOGS[2], LOGS[0], LOGS[1], LOGS[0]] })
  expect(indexes(await node.logsOfBlock(refAt(107), ADDRESSES))).toEqual([0, 1, 2].map((at) => [107, at]))
  const padded = (text: string) => all.map((log) => ({ ...log, note: text }))
  for (const result of [all, padded('x'.repeat(16_000))]) {
    scripted.fault = () => ({ result })
    expect(indexes(await node.logsOfRange({ fromBlock: 104, toBlock: 107 }, ADDRESSES))).toEqual([
      ...[0].map((at) => [105, at]),
      ...[0, 1].map((at) => [106, at]),
      ...[0, 1, 2].map((at) => [107, at]),
    ])
  }
  scripted.fault = () => ({ result: null })
  expect(await node.logsOfBlock(refAt(107), ADDRESSES)).toEqual([])
  expect(await node.logsOfRange({ fromBlock: 104, toBlock: 107 }, ADDRESSES)).toHaveLength(0)
})

test('ids as texts, a byte order mark, decimals and a header without bloom are read', async () => {
  const { node, scripted } = await start()
  const { header } = CHAIN[7]!
  const decimals = {
    ...header,
    number: 107,
    gasUsed: String(Number(header.gasUsed)),
    timestamp: 1_600_001_284,
  }
  scripted.fault = () => ({ result: decimals })
  expect(await node.headerAt(107)).toMatchObject({ number: 107, timeS: 1_600_001_284, isHashChecked: true })
  scripted.fault = () => ({ result: { ...header, logsBloom: null } })
  expect(await node.headerAt(107)).toMatchObject({ isHashChecked: false, logsBloom: `0x${'00'.repeat(256)}` })
  scripted.fault = () => ({
    ...{
      status: 200,
      body: `\ufeff{"jsonrpc":"2.0","id":"${scripted.calls.length}","error":null,"result":"0x5"}`,
    },
  })
  expect(await node.chainId()).toBe(5)
})

test('a node without the hash of a block in its filters is asked by number', async () => {
  const { node, scripted } = await start()
  scripted.fault = ({ params }) => {
    const { blockHash } = (params[0] ?? {}) as { readonly blockHash?: string }
    return blockHash ? { error: { code: -32_602, message: 'unknown field blockHash' } } : undefined
  }
  for (let time = 0; time < 2; time++) expect(await node.logsOfBlock(refAt(107), ADDRESSES)).toHaveLength(3)
  expect(scripted.takeMethods()).toEqual([
    'eth_getLogs',
    'eth_getLogs',
    'eth_getBlockByNumber',
    'eth_getLogs',
    'eth_getBlockByNumber',
  ])
  const other = { number: 108, hash: hashAt(107) } // Block 108 has no logs, and it is another one
  await expect(node.logsOfBlock(other, ADDRESSES)).rejects.toMatchObject({ kind: 'unknown_block' })
})

test('refused in the logs of a range: one outside it, two hashes of one block, and one hash of two', async () => {
  const { node, scripted } = await start()
  const twice = { ...LOGS[1], blockNumber: '0x6c' }
  for (const result of [
    [CHAIN[11]!.logs[0]],
    [LOGS[0], { ...LOGS[1], blockHash: hashAt(108) }],
    [LOGS[0], twice],
  ]) {
    scripted.fault = () => ({ result })
    await expect(node.logsOfRange({ fromBlock: 105, toBlock: 110 }, ADDRESSES)).rejects.toMatchObject({
      kind: 'wrong_answer',
    })
  }
})

/** Logs of one block that take 28 kB each: some parts of an answer end between them. */
const LONG_LOGS = Array.from({ length: 6 }, (_, at) => ({
  ...LOGS[0]!,
  logIndex: `0x${at.toString(16)}`,
  data: `0x${'ab'.repeat(14_000)}`,
}))

test('a long answer is read whole, and refused for a fault in any of its parts', async () => {
  const { node, scripted, counters } = await start()
  const read = () => node.logsOfRange({ fromBlock: 105, toBlock: 110 }, ADDRESSES)
  scripted.fault = () => ({ result: LONG_LOGS })
  expect([...(await read())].map(({ logIndex }) => logIndex)).toEqual([0, 1, 2, 3, 4, 5])

  for (const at of [1, 2, 3, 4, 5]) {
    for (const wrong of [
      { logIndex: `0x${(at - 1).toString(16)}`, data: '0x' },
      { blockNumber: '0x68' },
      { blockHash: hashAt(108) },
      { address: `0x${'99'.repeat(20)}` },
    ]) {
      counters.take()
      const result = LONG_LOGS.map((log, index) => (index === at ? { ...log, ...wrong } : log))
      scripted.fault = () => ({ result })
      await expect(read()).rejects.toMatchObject({ kind: 'wrong_answer' })
      expect(counters.take()).toMatchObject([{ result: 'wrong_answer', calls: 1 }])
    }
  }
})

test.each<[string, Fault, string]>([
  ['a hanging node', 'hang', 'timeout'],
  ['a node that closes connections', 'break', 'unreachable'],
  ['a redirect', { status: 307, headers: { location: 'http://127.0.0.1:1/' } }, 'redirect'],
  ['a large answer', { status: 200, body: 'x'.repeat(300_000) }, 'wrong_answer'],
  ['an error page', { status: 502, body: '<html>' }, 'refused'],
  ['no JSON', { status: 200, body: '<html>' }, 'wrong_answer'],
  ['another id', { status: 200, body: '{"jsonrpc":"2.0","id":77,"result":"0x1"}' }, 'wrong_answer'],
  ['neither result nor error', { status: 200, body: '{"jsonrpc":"2.0","id":1}' }, 'wrong_answer'],
  ['429', { status: 429, headers: { 'retry-after': '3' } }, 'rate_limit'],
  ['an error text', { error: 'header not found' }, 'unknown_block'],
])('%s', async (_name, fault, kind) => {
  const { node, scripted, counters } = await start()
  scripted.fault = () => fault

  await expect(node.chainId()).rejects.toMatchObject({ name: 'NodeError', kind, node: 'node1' })
  const calls = kind === 'refused' ? 4 : 1 // It is sent again after a status of 500 or more.
  expect(counters.read()).toEqual([{ node: 'node1', method: 'eth_chainId', result: kind, calls }])
})

test('what was answered of a batch is kept, and the rest is asked for again', async () => {
  const { node, scripted, counters } = await start()
  const numbers = Array.from({ length: 60 }, (_, at) => 100 + at)
  let left = 1
  scripted.fault = ({ params }) => {
    if (params[0] !== '0x77' || left === 0) return undefined
    left -= 1
    return { error: { code: -32_000, message: 'internal error' } }
  }

  expect((await node.headersAt(numbers)).map((header) => header?.number)).toEqual(numbers)
  expect(counters.read()).toContainEqual({
    ...{ node: 'node1', method: 'eth_getBlockByNumber', result: 'ok', calls: 60 },
  })
})

test('a node that takes few addresses is asked in parts, by the number that it names or by half', async () => {
  const logs = CHAIN[7]!.logs.map((log, at) => ({ ...log, address: at === 1 ? ESTATE : LAND }))
  const others = ['33', '44', '55'].map((byte) => `0x${byte.repeat(20)}`)
  for (const [words, sizes] of [
    ['exceed max addresses: 2', [5, 2, 2, 1, 2, 2, 1]],
    ['too many addresses', [5, 2, 2, 1, 2, 2, 1]],
    ['a filter may have at most 1 addresses', [5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]],
  ] as const) {
    const { node, scripted } = await start()
    const most = Math.max(...sizes.slice(1))
    scripted.fault = ({ params }) => {
      const { address } = params[0] as { readonly address: readonly string[] }
      return address.length > most
        ? { error: { code: -32_000, message: words } }
        : { result: logs.filter((log) => address.includes(log.address)) }
    }
    const addresses = [LAND, ...others, ESTATE]

    expect((await node.logsOfBlock(refAt(107), addresses)).map(({ logIndex }) => logIndex)).toEqual([0, 1, 2])
    const range = await node.logsOfRange({ fromBlock: 107, toBlock: 107 }, addresses)
    expect([...range].map(({ address }) => address)).toEqual([LAND, ESTATE, LAND])
    const asked = scripted.calls.map(({ params }) => (params[0] as { address: readonly string[] }).address)
    expect(asked.map(({ length }) => length)).toEqual(sizes)
  }
})

test('a header ends at 1 MiB, also where answers may be larger; logs are asked for in shorter ranges', async () => {
  const { node, scripted } = await start({ maxBytes: 4_000_000 })
  const { header } = CHAIN[7]!
  scripted.fault = () => ({ result: { ...header, transactions: 'x'.repeat(1_000_000) } })
  expect(await node.headerAt(107)).toMatchObject({ number: 107 })
  scripted.fault = () => ({ result: { ...header, transactions: 'x'.repeat(1_100_000) } })
  await expect(node.headerAt(107)).rejects.toMatchObject({ kind: 'wrong_answer' })
  expect(node.health.isTrusted).toBe(false)
  scripted.fault = () => ({ result: [{ data: 'x'.repeat(4_100_000) }] })
  const range = node.logsOfRange({ fromBlock: 104, toBlock: 107 }, ADDRESSES)
  await expect(range).rejects.toMatchObject({ kind: 'too_large' })
})

test('between the parts of a long answer other work is done', async () => {
  const { node, scripted } = await start({ maxBytes: 10_000_000 })
  const logs = Array.from({ length: 200 }, (_, at) => ({
    ...LONG_LOGS[0]!,
    logIndex: `0x${at.toString(16)}`,
  }))
  scripted.fault = () => ({ result: logs })
  let [turns, isRead, firstPart] = [0, false, 0]
  const count = () => {
    turns += 1
    if (!isRead) setImmediate(count)
  }
  const reading = node.logsOfRange({ fromBlock: 107, toBlock: 107 }, ADDRESSES).then((read) => {
    isRead = true
    return read
  })
  const { add } = PackedLogs.prototype
  const spy = vi.spyOn(PackedLogs.prototype, 'add').mockImplementation(function (this: PackedLogs, part) {
    if (firstPart === 0) count()
    firstPart += 1
    add.call(this, part)
  })
  expect(await reading).toHaveLength(200)
  spy.mockRestore()
  expect(turns).toBeGreaterThanOrEqual(firstPart - 1)
  expect(firstPart).toBeGreaterThan(50)
})

test('a connection that the node has closed is replaced by another one', async () => {
  const { node, scripted, counters } = await start()
  scripted.fault = () => (scripted.calls.length === 1 ? 'break' : undefined)

  expect(await node.chainId()).toBe(1)
  expect(counters.read()).toEqual([{ node: 'node1', method: 'eth_chainId', result: 'ok', calls: 1 }])
})

test('headers come in batches of 100, in the order of the numbers', async () => {
  const { node, scripted, counters } = await start()
  const numbers = [...Array.from({ length: 150 }, (_, at) => 249 - at), 99]

  const headers = await node.headersAt(numbers)

  expect(headers.map((header) => header?.number)).toEqual([...numbers.slice(0, -1), undefined])
  expect(scripted.requests).toHaveLength(2)
  expect(counters.read()).toEqual([
    { node: 'node1', method: 'eth_getBlockByNumber', result: 'ok', calls: 151 },
  ])
})

test('a node that refuses batches is asked one by one; one that refuses large ones, in smaller ones', async () => {
  const numbers = Array.from({ length: 40 }, (_, at) => 100 + at)
  for (const [allowed, requests] of [
    [0, 5 + 40],
    [10, 2 + 4],
  ] as const) {
    const { node, scripted } = await start()
    scripted.batchFault = (calls) =>
      calls.length > allowed
        ? { error: { code: -32_600, message: 'batch requests are not allowed' } }
        : undefined

    expect((await node.headersAt(numbers)).map((header) => header?.number)).toEqual(numbers)
    expect(scripted.requests).toHaveLength(requests)
  }
})

test('an answer to a batch ends at 16 MiB, and less is asked for then', async () => {
  const { node, scripted } = await start({ maxBytes: 64_000_000 })
  scripted.fault = ({ params }) => {
    const { header } = CHAIN.find(({ header: { number } }) => number === params[0])!
    return { result: { ...header, transactions: 'x'.repeat(900_000) } }
  }
  const numbers = Array.from({ length: 24 }, (_, at) => 100 + at)
  expect((await node.headersAt(numbers)).map((header) => header?.number)).toEqual(numbers)
  expect(scripted.requests).toHaveLength(3)
})

test('what the rate limit leaves out of a batch is asked for again after a pause', async () => {
  const { node, scripted, timing } = await start()
  let left = 30
  scripted.fault = () => {
    left -= 1
    return left >= 0 ? undefined : { error: { code: 429, message: 'compute units per second capacity' } }
  }
  const pause = timing.pause.bind(timing)
  timing.pause = async (ms) => {
    left = 30
    await pause(ms)
  }

  expect(await node.headersAt(Array.from({ length: 60 }, (_, at) => 100 + at))).toHaveLength(60)
  expect(timing.pauses).toHaveLength(1)
})

test('after a refusal for their rate, calls wait as long as the node asks for, and longer each time', async () => {
  const { node, scripted, timing } = await start()
  const refuse = (seconds?: string): Fault => ({
    error: { code: -32_005, message: 'too many requests' },
    headers: seconds === undefined ? {} : { 'retry-after': seconds },
  })
  scripted.fault = () => refuse('7')
  await expect(node.chainId()).rejects.toMatchObject({ kind: 'rate_limit' })
  scripted.fault = () => refuse()
  for (let turn = 0; turn < 8; turn++)
    await expect(node.chainId()).rejects.toMatchObject({ kind: 'rate_limit' })
  scripted.fault = () => undefined
  await node.chainId()
  await node.chainId()

  // Seven seconds, then half of 2, 4, 8 … seconds and half of that as jitter, up to a minute
  expect(timing.pauses).toEqual([7_000, 1_500, 3_000, 6_000, 12_000, 24_000, 45_000, 45_000, 45_000])
  expect(node.health.isTrusted).toBe(true)
})

test('calls beyond the limit at the same time wait', async () => {
  const { node, scripted } = await start({ maxInFlight: 2 })
  let most = 0
  scripted.fault = () => {
    most = Math.max(most, node.inFlight)
    return undefined
  }

  await Promise.all(Array.from({ length: 6 }, () => node.chainId()))

  expect(most).toBeLessThanOrEqual(2)
})

test('a signal ends calls and pauses with its reason', async () => {
  const stop = new AbortController()
  const { node, scripted } = await start({ signal: stop.signal })
  scripted.onHang = () => undefined
  scripted.fault = () => 'hang'
  const hanging = node.chainId()
  await expect.poll(() => scripted.calls.length).toBe(1)

  stop.abort(new Error('the program ends'))

  await expect(hanging).rejects.toThrow('the program ends')
  await expect(node.chainId()).rejects.toThrow('the program ends')
})

test('user, password, path and query reach the node, and no error text', async () => {
  const scripted = await ScriptedNode.start(CHAIN)
  const secrets = ['annabel', 'hunter2!', 'a1b2c3d4e5f6', 'tok-9876']
  const url = `http://annabel:hunter2%21@127.0.0.1:${scripted.port}/v3/a1b2c3d4e5f6?token=tok-9876`
  const node = nodeAt(url, { timeoutMs: 5_000 })
  const echo = `bad key A1B2C3D4E5F6 of annabel:hunter2! (${Buffer.from('annabel:hunter2!').toString('base64')}) at ${url}`
  const faults: Fault[] = [
    { error: { code: -32_000, message: echo } },
    { error: { message: 'denied', data: echo }, status: 401 },
    { status: 302, headers: { location: url } },
    { status: 200, body: echo },
    { error: echo, status: 429 },
  ]
  for (const fault of faults) {
    scripted.fault = () => fault
    const error = (await node.chainId().catch((thrown) => thrown)) as NodeError
    const text = `${error.message}\n${error.stack}\n${JSON.stringify(error)}`
    expect(error).toBeInstanceOf(NodeError)
    expect(error.message).toContain(`node1 (http://127.0.0.1:${scripted.port}): eth_chainId: `)
    for (const secret of secrets) expect(text.toLowerCase(), secret).not.toContain(secret)
  }
  expect(scripted.requests[0]).toEqual({
    url: '/v3/a1b2c3d4e5f6?token=tok-9876',
    authorization: `Basic ${Buffer.from('annabel:hunter2!').toString('base64')}`,
  })
})

test('of a very long text the beginning is shown, without a part of a secret at its end', () => {
  const address = readNodeAddress('node1', 'https://rpc.example/v3/a1b2c3d4e5f6')
  for (let length = 9_980; length <= 10_020; length++) {
    const masked = maskSecrets(address, `${' '.repeat(length)}a1b2c3d4e5f6${'y'.repeat(5_000_000)}`)
    expect(masked.replace('***', '')).toMatch(/^y*$/)
  }
})

test('no secret of any address is left in what a node writes', () => {
  const secret = fc.stringMatching(/^[A-Za-z0-9%!()*._~-]{8,20}$/).map(encodeURIComponent)
  const around = fc.string({ maxLength: 10 }).map((text) => text.replace(/\*/g, ''))
  fc.assert(
    fc.property(secret, secret, secret, secret, around, (user, password, key, value, text) => {
      const url = `https://${user}:${password}@rpc.example/v1/${key}?a=${value}`
      const address = readNodeAddress('node1', url)
      const parts = [user, password, key, value]
      const written = [url, ...parts, ...parts.map(decodeURIComponent)].join(text)
      const masked = maskSecrets(address, written)
      for (const part of parts) {
        expect(masked).not.toContain(part)
        expect(masked).not.toContain(decodeURIComponent(part))
      }
      expect(address.shown).toBe('node1 (https://rpc.example)')
    }),
    { numRuns: runs(100) },
  )
})

test.each(['', 'rpc.example', 'ftp://rpc.example/key', 'file:///key', 'http://'])(
  'no address of a node: "%s"',
  (text) => {
    expect(() => readNodeAddress('node1', text)).toThrow('node1 has no address with http:// or https://')
  },
)

function refAt(number: number) {
  return { number, hash: hashAt(number) }
}

function hashAt(number: number): string {
  return CHAIN[number - 100]?.header.hash ?? ''
}

async function start(options: Partial<JsonRpcOptions> = {}) {
  const scripted = await ScriptedNode.start(CHAIN)
  const timing = new FixedTiming()
  scripted.onHang = timing.noteHang
  const counters = new CallCounters()
  return { scripted, timing, counters, node: nodeAt(scripted.url, { timing, counters, ...options }) }
}

function nodeAt(url: string, options: Partial<JsonRpcOptions>): EthereumNode {
  return new EthereumNode({
    address: readNodeAddress('node1', url),
    timeoutMs: 5_000,
    maxBytes: 200_000,
    maxInFlight: 4,
    counters: new CallCounters(),
    timing: new FixedTiming(),
    random: () => 0.5,
    ...options,
  })
}
