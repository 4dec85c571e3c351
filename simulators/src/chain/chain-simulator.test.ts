import { readFileSync } from 'node:fs'
import { parseWorld } from '@landpass/client/grid'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ChainSimulator, startChainSimulator } from './chain-simulator.ts'
import { hashOfText } from './encoding/words.ts'
import type { LogJson } from './node/block-json.ts'
import { METHOD_NAMES } from './node/methods.ts'
import { DEFAULT_SETTINGS } from './node/settings.ts'
import { TRUTH_PARTS } from './truth.ts'

const BLOCKS = 240
const OPTIONS = {
  ...{ host: '127.0.0.1', port: 0, seed: 7, world: parseWorld('-6,-6,6,6')!, chainId: 1337 },
  ...{ historyBlocks: BLOCKS, blockTimeS: 0, transactionsPerBlock: 3 },
}
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const TRANSFERS = [
  TRANSFER,
  '0x8988d59efc2c4547ef86c88f6543963bab0cea94f8e486e619c7c3a790db93be',
  '0xd5c97f2e041b2046be3b4337472f05720760a198f4d7d84980b7155eec7cca6f',
]
const selectorOf = (signature: string) => hashOfText(signature).slice(0, 10)
const OWNER = selectorOf('ownerOf(uint256)')
const FINGERPRINT = selectorOf('getFingerprint(uint256)')
const SIZE = selectorOf('getEstateSize(uint256)')
const ORDER = selectorOf('orderByAssetId(address,uint256)')
const ADD_LAND = '0xff0e52667d53255667dc777a00af81038a4646367b0d73d8ee8540ca5b0c9a2e'
const REMOVE_LAND = '0x7932eb5ab0d4d4d172776074ee15d13d708465ff5476902ed15a4965434fcab1'

let simulator: ChainSimulator

beforeAll(async () => {
  simulator = await startChainSimulator(OPTIONS)
})

afterAll(() => simulator.close())

beforeEach(() => control('POST', '/simulator/reset'))

describe('the node', () => {
  test('has a chain whose blocks link, with the tags of today', async () => {
    const [latest, safe, finalized] = await Promise.all(
      ['latest', 'safe', 'finalized'].map((tag) => call('eth_getBlockByNumber', [tag, false])),
    )
    const parent = await call('eth_getBlockByHash', [latest.parentHash, false])
    const beyond = await call('eth_getBlockByNumber', ['0xffffff', false])
    const [id, version] = await send([
      { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] },
      { jsonrpc: '2.0', id: 2, method: 'net_version' },
    ])

    const head = Number(latest.number)
    expect([Number(safe.number), Number(finalized.number)]).toEqual([head - 32, head - 64])
    expect(Number(parent.number)).toBe(head - 1)
    expect(beyond).toBeNull()
    expect([id.result, version.result]).toEqual(['0x539', '1337'])
  })

  test('finds logs by range, hash, address and topics, and gives the same ones in receipts', async () => {
    const all = await logs({ fromBlock: '0x0', toBlock: quantity(BLOCKS) })
    const busy = all.at(-1)!
    const land = simulator.network.contracts.LANDRegistry!.address
    const ofBlock = await logs({ blockHash: busy.blockHash })
    const receipts = await call('eth_getBlockReceipts', [busy.blockHash])
    const one = await call('eth_getTransactionReceipt', [busy.transactionHash])
    const transfers = await logs({
      fromBlock: '0x0',
      toBlock: 'latest',
      address: [land],
      topics: [TRANSFERS],
    })

    expect(ofBlock).toEqual(all.filter(({ blockHash }) => blockHash === busy.blockHash))
    expect(receipts.flatMap(({ logs }: { logs: LogJson[] }) => logs)).toEqual(ofBlock)
    expect(receipts).toContainEqual(one)
    expect(ofBlock.map(({ logIndex }) => Number(logIndex))).toEqual(ofBlock.map((_, index) => index))
    expect(transfers).toEqual(
      all.filter(({ address, topics }) => address === land && TRANSFERS.includes(topics[0]!)),
    )
    expect(all.length).toBeGreaterThan(1_000)
  })

  test('has all that happens to land in its history', async () => {
    const all = await logs({ fromBlock: '0x0', toBlock: 'latest' })
    const byAddress = new Set(all.map(({ address }) => address))
    const topics = new Set(all.map((log) => `${log.topics[0]} ${log.topics.length}`))

    for (const [role, { address }] of Object.entries(simulator.network.contracts)) {
      expect(byAddress, role).toContain(address)
    }
    expect(topics.size).toBeGreaterThan(38)
  })

  test('its logs tell owners and estates as the contracts have them, also after a reorganisation', async () => {
    const before = await truth('parcels,estates')
    expect(await ownersInLogs()).toEqual(ownersOf(before))

    await control('POST', '/simulator/reorganise', { depth: 40, length: 45 })

    const after = await truth('parcels,estates')
    expect(after.block.hash).not.toBe(before.block.hash)
    expect(await ownersInLogs()).toEqual(ownersOf(after))
  })

  test('answers calls of contracts at the state of any block', async () => {
    const { LANDRegistry: land, EstateRegistry: estates, Marketplace: market } = simulator.network.contracts
    const state = await truth('parcels,estates,orders', BLOCKS - 100)
    const parcel = state.parcels.find(({ estate_id }: { estate_id: string | null }) => estate_id !== null)
    const estate = state.estates.find(({ token_id }: { token_id: string }) => token_id === parcel.estate_id)
    const order = state.orders.find(
      ({ marketplace }: { marketplace: string }) => marketplace === market!.address,
    )
    const read = (to: string, selector: string, ...args: string[]) =>
      call('eth_call', [{ to, data: selector + args.map(word).join('') }, { blockHash: state.block.hash }])

    expect(await read(land!.address, OWNER, parcel.token_id)).toBe(`0x${word(estates!.address)}`)
    expect(await read(estates!.address, OWNER, estate.token_id)).toBe(`0x${word(estate.owner)}`)
    expect(await read(estates!.address, FINGERPRINT, estate.token_id)).toBe(estate.fingerprint)
    expect(Number(await read(estates!.address, SIZE, estate.token_id))).toBe(estate.parcels.length)
    const found = await read(market!.address, ORDER, order.token_address, order.token_id)
    expect(found.slice(0, 66)).toBe(order.id)
    expect(await error('eth_call', [{ to: land!.address, data: '0x12345678' }, 'latest'])).toMatchObject({
      message: 'execution reverted',
    })
  })
})

test('the same seed is the same chain, another one is another', async () => {
  const one = await headHash(OPTIONS)

  expect(await headHash(OPTIONS)).toBe(one)
  expect(await headHash({ ...OPTIONS, seed: 8 })).not.toBe(one)
})

describe('a reorganisation', () => {
  test('puts transactions into other blocks, and forgets the old ones, unless the node keeps them', async () => {
    const first = simulator.chain.head.number - 7
    const range = { fromBlock: quantity(first), toBlock: 'latest' }
    const before = await logs(range)
    const oldHead = simulator.chain.head.hash

    const head = await control('POST', '/simulator/reorganise', { depth: 8, keep: 1 })

    const after = await logs(range)
    const place = (log: LogJson) => `${log.blockHash} ${log.logIndex}`
    const moved = after.filter((log) => before.some((old) => old.transactionHash === log.transactionHash))
    expect(head.number).toBe(first + 8)
    expect(moved.length).toBeGreaterThan(0)
    const old = new Set(before.map(place))
    expect(after.filter((log) => old.has(place(log)))).toEqual([])
    expect(await call('eth_getBlockByHash', [oldHead, false])).toBeNull()
    expect(await error('eth_getLogs', [{ blockHash: oldHead }])).toMatchObject({ message: 'unknown block' })
    await change({ keeps_orphans: true })
    expect(await call('eth_getBlockByHash', [oldHead, false])).toMatchObject({ hash: oldHead })
  })

  test('deeper than the chain is refused', async () => {
    expect(await control('POST', '/simulator/reorganise', { depth: 99_999 })).toMatchObject({
      message: 'depth 99999 is too much',
    })
  })
})

test('a deed on command happens in a block of its own, and its answer says what and where', async () => {
  const { number } = simulator.chain.head

  const { kind, asset_type, asset_id, to, block } = await control('POST', '/simulator/act', {
    kind: 'transfer',
  })

  expect([kind, block.number]).toEqual(['transfer', number + 1])
  const state = await truth(asset_type === 'parcel' ? 'parcels' : 'estates')
  const rows: readonly { id?: string; token_id: string; owner: string }[] = state.parcels ?? state.estates
  expect(rows.find((row) => (row.id ?? row.token_id) === asset_id)?.owner).toBe(to)
  expect(await control('POST', '/simulator/act', { kind: 'gift' })).toMatchObject({
    message: expect.stringContaining('kind is sale, transfer'),
  })
})

describe('faults', () => {
  test('hit the named methods, and end after a number of calls', async () => {
    await change({ rate_limit: 'http_retry_after', retry_after_s: 9, methods: ['eth_getLogs'], for_calls: 2 })
    const ask = async () => (await post({ id: 1, method: 'eth_getLogs', params: [{}] })).status

    expect(await call('eth_chainId')).toBe('0x539')
    expect([await ask(), await ask(), await ask()]).toEqual([429, 429, 200])
  })

  test('of logs: none yet, one missing, one of another block, two with one index', async () => {
    const [busy] = (await logs({ fromBlock: '0x0', toBlock: 'latest' })).filter(
      (log) => log.logIndex === '0x2',
    )
    const { blockHash } = busy!
    const whole = await logs({ blockHash })

    await change({ missing_log: true })
    expect(await logs({ blockHash })).toEqual(whole.toSpliced(1, 1))
    await change({ missing_log: false, foreign_log: true })
    expect((await logs({ blockHash })).filter((log) => log.blockHash !== blockHash)).toHaveLength(1)
    await change({ foreign_log: false, doubled_log_index: true })
    expect(new Set((await logs({ blockHash })).map(({ logIndex }) => logIndex)).size).toBe(whole.length - 1)
    await change({ doubled_log_index: false, log_timestamps: false })
    expect((await logs({ blockHash }))[0]).not.toHaveProperty('blockTimestamp')
  })

  test('of blocks: null, invented, changed', async () => {
    const head = await call('eth_getBlockByNumber', ['latest', false])

    await change({ null_block: true })
    expect(await call('eth_getBlockByNumber', ['latest', false])).toBeNull()
    await change({ null_block: false, invented_block: 'next' })
    const next = await call('eth_getBlockByNumber', ['latest', false])
    expect(next).toMatchObject({ parentHash: head.hash, number: quantity(Number(head.number) + 1) })
    expect(await call('eth_getBlockByHash', [next.hash, false])).toBeNull()
    await change({ invented_block: 'changed' })
    const changed = await call('eth_getBlockByNumber', ['latest', false])
    expect(changed.hash).toBe(head.hash)
    expect(changed.timestamp).not.toBe(head.timestamp)
  })

  test('of the connection: redirected, cut, padded, closed', async () => {
    const request = { id: 1, method: 'eth_chainId' }

    await change({ redirect_to: 'http://127.0.0.1:9/' })
    expect(await post(request)).toMatchObject({ status: 307 })
    await change({ redirect_to: '', pad_bytes: 5_000 })
    expect((await (await post(request)).text()).length).toBeGreaterThan(5_000)
    await change({ pad_bytes: 0, broken_json: true })
    await expect((await post(request)).json()).rejects.toThrow(SyntaxError)
    await change({ broken_json: false, drop: true })
    await expect(post(request)).rejects.toThrow('fetch failed')
    await change({ drop: false, down: true })
    expect(await post(request)).toMatchObject({ status: 503 })
  })

  test('of the head: behind, and standing still while the chain goes on', async () => {
    const before = simulator.chain.head.number

    await change({ frozen: true })
    await change({ lag_blocks: 5 })
    await control('POST', '/simulator/mine', { blocks: 3 })

    expect(Number(await call('eth_blockNumber'))).toBe(before - 5)
    expect(await call('eth_getBlockByNumber', [quantity(before - 4), false])).toBeNull()
    await change({ frozen: false, lag_blocks: 0 })
    expect(Number(await call('eth_blockNumber'))).toBe(before + 3)
    await control('POST', '/simulator/mine', { until: before + 5 })
    expect(Number(await call('eth_blockNumber'))).toBe(before + 5)
  })

  test('of history: gone, in each form in which nodes say so', async () => {
    const old = [{ fromBlock: '0x1', toBlock: '0x40' }]
    const forms = ['4444', 'geth_block_0', 'nethermind', 'erigon'] as const
    const words: string[] = []
    for (const pruned_form of forms) {
      await change({ pruned_below: 100, pruned_form })
      words.push((await error('eth_getLogs', old)).message)
    }
    await change({ pruned_form: 'empty' })

    expect(words).toEqual([
      'pruned history unavailable',
      'failed to get logs for block #1',
      'Receipt not available for From block 1.',
      'receipts are pruned: data before txNum=100 is not available',
    ])
    expect(await call('eth_getLogs', old)).toEqual([])
    expect(await call('eth_getBlockByNumber', ['0x1', false])).toMatchObject({ number: '0x1' })
    expect(await call('eth_capabilities')).toMatchObject({ logs: { oldestBlock: '0x64' } })
    await change({ capabilities: false })
    expect(await error('eth_capabilities', [])).toMatchObject({ code: -32601 })
  })

  test.each([
    ['infura', 'range 61 exceeds limit of 20'],
    ['quicknode', 'eth_getLogs is limited to a 20 range'],
    ['ankr', 'block range is too wide'],
    ['drpc', 'ranges over 20 blocks are not supported on freetier'],
    ['tenderly', 'invalid params'],
  ])('of ranges: the words of %s', async (limit_words, message) => {
    await change({ range_limit: 20, limit_words })

    expect(await error('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x3c' }])).toMatchObject({ message })
    expect(await call('eth_getLogs', [{ fromBlock: '0x0', toBlock: '0x13' }])).toBeInstanceOf(Array)
  })

  test('of results: refused with a range that works, or cut off without a word', async () => {
    await change({ result_limit: 50, limit_words: 'infura' })
    const { message } = await error('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }])
    const [, from, to] = /\[(0x[\da-f]+), (0x[\da-f]+)\]/.exec(message)!

    expect((await logs({ fromBlock: from, toBlock: to })).length).toBeLessThanOrEqual(50)
    await change({ result_limit: 0, silent_result_limit: 10 })
    expect(await logs({ fromBlock: '0x0', toBlock: 'latest' })).toHaveLength(10)
  })

  test('are those of one node; others of the same chain have their own', async () => {
    await control('PATCH', '/simulator/nodes/b/settings', { chain_id: 5 })

    expect(await call('eth_chainId', [], '/nodes/b')).toBe('0x5')
    expect(await call('eth_chainId', [], '/v3/a-key')).toBe('0x539')
    expect((await control('GET', '/simulator/nodes/b/calls')).calls).toEqual({ eth_chainId: 1 })
  })

  test('that do not exist are refused', async () => {
    expect(await control('PATCH', '/simulator/settings', { lag: 1 })).toMatchObject({
      message: 'there is no setting lag',
    })
    expect(await control('PATCH', '/simulator/settings', { down: 1 })).toMatchObject({
      message: 'down is true or false',
    })
  })
})

test('asked ranges are remembered, so that a test sees what is asked twice', async () => {
  await logs({ fromBlock: '0x1', toBlock: '0x9' })

  expect(await control('GET', '/simulator/calls')).toMatchObject({
    requests: 1,
    asked_logs: [{ from: 1, to: 9 }],
  })
})

test('its README.md names every setting with its default, every part of the truth, and every method', () => {
  const page = readFileSync(new URL('../../src/chain/README.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| (`[a-z_`, ]+`) \|([^|]*)\|/gm)].map(
    ([, names = '', defaults = '']) => ({
      ...{
        names: [...names.matchAll(/[a-z_]+/g)].map(String),
        defaults: defaults.replaceAll('`', '').trim(),
      },
    }),
  )

  const documented = rows.flatMap(({ names, defaults }) => {
    const values = defaults.split(', ')
    return names.map((name, i) => [name, values[i] ?? values[0]])
  })
  expect(Object.fromEntries(documented)).toEqual(
    Object.fromEntries(
      Object.entries(DEFAULT_SETTINGS).map(([name, value]) => [
        name,
        Array.isArray(value) ? JSON.stringify(value) : String(value),
      ]),
    ),
  )
  for (const word of [...TRUTH_PARTS, ...METHOD_NAMES]) expect(page).toContain(`\`${word}\``)
})

/** Owners of parcels and members of estates as the logs tell them: a reader that shares no code with the contracts. */
async function ownersInLogs(): Promise<Record<string, string>> {
  const { LANDRegistry: land, EstateRegistry: estates } = simulator.network.contracts
  const owners: Record<string, string> = {}
  for (const { address, topics } of await logs({ fromBlock: '0x0', toBlock: 'latest' })) {
    const [topic, first, second, third] = topics as [string, string, string, string]
    if (address !== land!.address && address !== estates!.address) continue
    const kind = address === land!.address ? 'parcel' : 'estate'
    if (TRANSFERS.includes(topic)) owners[`${kind} ${BigInt(third)}`] = `0x${second.slice(26)}`
    if (topic === ADD_LAND) owners[`member ${BigInt(second)}`] = String(BigInt(first))
    if (topic === REMOVE_LAND) delete owners[`member ${BigInt(second)}`]
  }
  return owners
}

interface TokenRow {
  readonly token_id: string
  readonly owner: string
  readonly estate_id: string | null
}

function ownersOf({ parcels, estates }: { parcels: TokenRow[]; estates: TokenRow[] }) {
  return Object.fromEntries([
    ...parcels.map(({ token_id, owner }) => [`parcel ${token_id}`, owner]),
    ...estates.map(({ token_id, owner }) => [`estate ${token_id}`, owner]),
    ...parcels.flatMap(({ token_id, estate_id }) => (estate_id ? [[`member ${token_id}`, estate_id]] : [])),
  ])
}

async function headHash(options: typeof OPTIONS): Promise<string> {
  const other = await startChainSimulator({ ...options, historyBlocks: 40 })
  await other.close()
  return other.chain.head.hash
}

const quantity = (value: number) => `0x${value.toString(16)}`
const word = (value: string) => BigInt(value).toString(16).padStart(64, '0')

function post(body: unknown, path = ''): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(simulator.address + path, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
    redirect: 'manual',
  })
}

// biome-ignore lint/suspicious/noExplicitAny: the tests read answers of many shapes
async function send(body: unknown, path = ''): Promise<any> {
  return (await post(body, path)).json()
}

// biome-ignore lint/suspicious/noExplicitAny: the tests read answers of many shapes
async function call(method: string, params: unknown[] = [], path = ''): Promise<any> {
  const { result, error } = await send({ jsonrpc: '2.0', id: 1, method, params }, path)
  if (error) throw new Error(error.message)
  return result
}

async function error(method: string, params: unknown[]): Promise<{ code: number; message: string }> {
  return (await send({ jsonrpc: '2.0', id: 1, method, params })).error
}

function logs(filter: object): Promise<LogJson[]> {
  return call('eth_getLogs', [filter])
}

// biome-ignore lint/suspicious/noExplicitAny: the tests read answers of many shapes
async function truth(parts: string, block = simulator.chain.head.number): Promise<any> {
  return (await fetch(`${simulator.address}/truth?parts=${parts}&block=${block}`)).json()
}

// biome-ignore lint/suspicious/noExplicitAny: the tests read answers of many shapes
async function control(method: string, path: string, body?: object): Promise<any> {
  const sent = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
  return (await fetch(simulator.address + path, { method, ...sent })).json()
}

function change(settings: object): Promise<unknown> {
  return control('PATCH', '/simulator/settings', settings)
}
