import { expect, test } from 'vitest'
import {
  ESTATE,
  type Fault,
  FixedTiming,
  LAND,
  makeChain,
  type ScriptedBlock,
  ScriptedNode,
} from '../../../test/support/chain/scripted-node.ts'
import { MINUTE_MS } from '../../clock.ts'
import { CallCounters } from './call-counters.ts'
import { type ConnectOptions, connectNodes } from './connect.ts'
import { MAX_WAIT_MS } from './json-rpc.ts'

const CHAIN = makeChain({ from: 100, count: 20, logsAt: () => 2 })
const FORK = [
  ...CHAIN.slice(0, 15),
  ...makeChain({
    from: 115,
    count: 5,
    salt: 'f0',
    parentHash: CHAIN[14]!.header.hash!,
    logsAt: () => 1,
  }),
]
/** The same numbers, and no block of CHAIN. */
const OTHER = makeChain({ from: 100, count: 20, salt: 'aa' })
const ADDRESSES = [LAND, ESTATE]

type Setting = Pick<ScriptedNode, 'chainId' | 'blocks'>

test('each node is asked for its chain and start block before it is used', async () => {
  const { nodes, all } = await connect([CHAIN, CHAIN, OTHER, CHAIN])
  all[0]!.chainId = 5
  all[3]!.blocks = CHAIN.slice(0, 0)

  const { node } = await nodes.head()

  expect(node.name).toBe('node2')
  expect(nodes.status().map(({ state }) => state)).toEqual(['refused', 'usable', 'refused', 'avoided'])
  expect(nodes.status().map(({ reason }) => reason)).toEqual([
    'it is of the chain 5, not of 1: name a node of that chain, or set CHAIN_NETWORK',
    undefined,
    'its block 100 has another hash: it is of another chain',
    'it does not have block 100 yet',
  ])
  for (const { calls } of [all[0]!, all[2]!]) {
    expect(calls.map(({ method }) => method)).not.toContain('eth_getLogs')
  }
})

test('a start block whose hash is known refuses a first node of another chain', async () => {
  const { nodes } = await connect([OTHER, CHAIN], { startHash: CHAIN[0]!.header.hash })

  expect((await nodes.head()).node.name).toBe('node2')
  expect(nodes.status()[0]?.state).toBe('refused')
})

test('why a node is not used is said once, and that no waiting mends the addresses of all', async () => {
  const said: string[] = []
  const onUnusable = (shown: string, reason: string) => said.push(`${shown} ${reason}`)
  const { nodes, all, timing } = await connect([CHAIN, CHAIN], { onUnusable })
  all[0]!.chainId = 5
  all[1]!.fault = () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/login' } })
  for (let time = 0; time < 3; time++) {
    await expect(nodes.head()).rejects.toMatchObject({ name: 'NoNodeError', isLasting: true })
    timing.advance(600_000)
  }
  expect(said).toEqual([
    expect.stringMatching(/^node1 .* it is of the chain 5, not of 1: name a node/),
    expect.stringMatching(/^node2 .* it redirects to another address, such as https/),
  ])
  all[1]!.fault = () => ({ status: 502 })
  await expect(nodes.head()).rejects.toMatchObject({ name: 'NoNodeError', isLasting: false })
  all[0]!.chainId = 1
  timing.advance(600_000)
  await nodes.head()
  expect(said).toHaveLength(3)
})

test('a refused node is checked again in the background, and is used when it is right', async () => {
  const { nodes, all, timing } = await connect([CHAIN, CHAIN])
  all[0]!.chainId = 5
  await nodes.head()
  all[0]!.chainId = 1

  all[0]!.takeMethods()
  timing.advance(29_999)
  for (let poll = 0; poll < 3; poll++) expect((await nodes.head()).node.name).toBe('node2')
  expect(all[0]!.takeMethods()).toEqual([])
  timing.advance(1)
  await expect.poll(async () => (await nodes.head()).node.name).toBe('node1')
  expect(nodes.status()[0]).toMatchObject({ state: 'usable', reason: undefined })
})

test.each<[string, Setting, string]>([
  ['chain', { chainId: 5, blocks: CHAIN }, 'it is of the chain 5, not of 1'],
  ['start block', { chainId: 1, blocks: OTHER }, 'its block 100 has another hash: it is of another chain'],
])('a node with another %s is checked less and less often until it is right', async (_, wrong, reason) => {
  const { nodes, all, timing } = await connect([CHAIN], { startHash: CHAIN[0]!.header.hash })
  const [only] = all
  const countChecks = () => only!.takeMethods().filter((method) => method === 'eth_chainId').length
  Object.assign(only!, wrong)
  await expect(nodes.head()).rejects.toThrow(`is refused: ${reason}`)
  expect(countChecks()).toBe(1)

  for (const seconds of [30, 60, 120, 240, 300, 300]) {
    timing.advance(seconds * 1_000 - 1)
    await expect(nodes.head()).rejects.toThrow(`is refused: ${reason}`)
    expect(countChecks()).toBe(0)
    timing.advance(1)
    await expect(nodes.head()).rejects.toThrow(`is refused: ${reason}`)
    expect(countChecks()).toBe(1)
  }

  Object.assign(only!, { chainId: 1, blocks: CHAIN })
  timing.advance(300_000)
  expect(await headOf(nodes)).toMatchObject({ name: 'node1', number: 119 })
  expect(nodes.status()[0]).toMatchObject({ state: 'usable', reason: undefined })

  // The next refusal begins with the shortest time again
  Object.assign(only!, wrong)
  only!.fault = () => ({ status: 502 })
  await expect(nodes.head()).rejects.toThrow('is avoided')
  only!.fault = () => undefined
  await expect(nodes.head()).rejects.toThrow(`is refused: ${reason}`)
  Object.assign(only!, { chainId: 1, blocks: CHAIN })
  timing.advance(30_000)
  expect(await headOf(nodes)).toMatchObject({ name: 'node1' })
})

test('a preferred node that was away at the start decides which start block is right', async () => {
  const { nodes, all, timing } = await connect([CHAIN, OTHER])
  all[0]!.fault = () => ({ status: 502 })
  expect((await nodes.head()).node.name).toBe('node2')

  all[0]!.fault = () => undefined
  timing.advance(60_000)
  await expect.poll(async () => (await nodes.head()).node.name).toBe('node1')
  expect(nodes.status().map(({ state }) => state)).toEqual(['usable', 'refused'])
  expect(nodes.status()[1]?.reason).toBe('its block 100 has another hash: it is of another chain')

  all[1]!.blocks = CHAIN
  timing.advance(30_000)
  await nodes.head()
  await expect.poll(() => nodes.status()[1]?.state).toBe('usable')
})

test('the best node is the most preferred one that is not behind by more than the bound', async () => {
  const { nodes, all, timing } = await connect([CHAIN.slice(0, 17), CHAIN])
  expect(await headOf(nodes)).toEqual({ name: 'node1', number: 116, state: 'usable' })

  all[0]!.blocks = CHAIN.slice(0, 16)
  all[1]!.blocks = makeChain({ from: 100, count: 21, logsAt: () => 2 })
  timing.advance(60_000)
  expect(await headOf(nodes)).toEqual({ name: 'node2', number: 120, state: 'usable' })
  expect(nodes.status().map(({ state }) => state)).toEqual(['lagging', 'usable'])

  all[0]!.blocks = makeChain({ from: 100, count: 21, logsAt: () => 2 })
  timing.advance(60_000)
  expect(await headOf(nodes)).toEqual({ name: 'node1', number: 120, state: 'usable' })
})

test('only the best node is asked for each head, the others from time to time', async () => {
  const { nodes, all, timing } = await connect([CHAIN, CHAIN])
  await nodes.head()
  for (const scripted of all) scripted.calls.length = 0

  for (let poll = 0; poll < 5; poll++) {
    timing.advance(4_000)
    await nodes.head()
  }

  expect(all.map(({ calls }) => calls.length)).toEqual([5, 1])
})

test('a head that goes back lags; with another hash at its height, it is a reorganisation', async () => {
  const { nodes, all } = await connect([CHAIN])
  for (let length = 17; length <= 20; length++) {
    all[0]!.blocks = CHAIN.slice(0, length)
    await nodes.head()
  }

  all[0]!.blocks = CHAIN.slice(0, 17)
  expect(await headOf(nodes)).toEqual({ name: 'node1', number: 116, state: 'lagging' })
  all[0]!.blocks = CHAIN
  expect(await headOf(nodes)).toMatchObject({ number: 119, state: 'usable' })
  all[0]!.blocks = FORK.slice(0, 18)
  expect(await headOf(nodes)).toEqual({ name: 'node1', number: 117, state: 'usable' })
  all[0]!.blocks = FORK
  expect(await headOf(nodes)).toMatchObject({ number: 119, state: 'usable' })
})

test('while one node is behind what was reported, another one with that head is asked', async () => {
  const { nodes, all } = await connect([CHAIN, CHAIN])
  await nodes.head()

  all[0]!.blocks = CHAIN.slice(0, 18)

  expect(await headOf(nodes)).toEqual({ name: 'node2', number: 119, state: 'usable' })
})

test('a hanging node costs one deadline, and comes back when it answers again', async () => {
  const { nodes, all, timing, counters } = await connect([CHAIN, CHAIN])
  await nodes.head()
  all[0]!.fault = () => 'hang'

  for (let poll = 0; poll < 6; poll++) expect((await nodes.head()).node.name).toBe('node2')
  expect(timeouts(counters)).toBe(1)
  expect(nodes.status()[0]).toMatchObject({ state: 'avoided' })
  expect(nodes.status()[0]?.reason).toContain('no answer before the deadline')

  // A check in the background fails: nothing waits for it
  timing.advance(31_000)
  for (let poll = 0; poll < 3; poll++) expect((await nodes.head()).node.name).toBe('node2')
  await expect.poll(() => timeouts(counters)).toBe(2)
  timing.advance(31_000)
  await nodes.head()
  expect(all[0]!.takeMethods().filter((method) => method === 'eth_chainId')).toHaveLength(2)

  all[0]!.fault = () => undefined
  timing.advance(60_000)
  await expect.poll(async () => (await nodes.head()).node.name).toBe('node1')
})

test('the only node is checked by the caller when it has failed', async () => {
  const { nodes, all } = await connect([CHAIN])
  await nodes.head()
  all[0]!.fault = () => ({ status: 502 })
  await expect(nodes.head()).rejects.toThrow(/no Ethereum node can be asked: node1 .* is avoided: .*HTTP 502/)

  all[0]!.fault = () => undefined

  expect((await nodes.head()).header.number).toBe(119)
})

test('logs of a block come from the node that gave the header, by hash, and else from the next', async () => {
  const { nodes, all } = await connect([CHAIN.slice(0, 19), CHAIN, CHAIN])
  const header = (await nodes.headerOf(CHAIN[19]!.header.hash!))!
  const from = (await nodes.candidates())[2]!

  expect(await nodes.logsOfBlock(header, ADDRESSES, { from })).toMatchObject({ node: { name: 'node3' } })
  all[2]!.fault = () => ({ error: { code: -32_000, message: 'unknown block' } })
  const { node, logs } = await nodes.logsOfBlock(header, ADDRESSES, { from })
  expect(node.name).toBe('node1')
  expect(logs).toHaveLength(0)
})

test('a pause of one node does not hold up the others; with one node, calls wait, but not for long', async () => {
  const tooMany = (seconds: string): Fault => ({ status: 429, headers: { 'retry-after': seconds } })
  const { nodes, all, timing } = await connect([CHAIN, CHAIN])
  await nodes.head()
  all[0]!.fault = () => tooMany('5')
  expect((await nodes.headerAt(101))?.number).toBe(101)
  expect(nodes.status().map(({ state }) => state)).toEqual(['paused', 'usable'])
  expect(timing.pauses).toEqual([])

  all[1]!.fault = () => tooMany('3600')
  await expect(nodes.headerAt(102)).rejects.toMatchObject({ kind: 'rate_limit' })
  all[0]!.fault = () => tooMany('3600')
  await expect(nodes.headerAt(102)).rejects.toMatchObject({ kind: 'rate_limit' })
  await expect(nodes.headerAt(102)).rejects.toMatchObject({ name: 'NoNodeError' })
  expect(Math.max(...timing.pauses)).toBeLessThanOrEqual(MAX_WAIT_MS)
  expect(nodes.noNode().retryAfterMs).toBeGreaterThan(3_000_000)
})

test.each<[string, Fault]>([
  ['a page with the status 503', { status: 503, body: '<html>' }],
  ['a rate limit', { error: { code: -32_005, message: 'daily request count exceeded' } }],
])('of the only node each third answer is %s: all that is asked is answered', async (_name, fault) => {
  const { nodes, all } = await connect([CHAIN])
  let calls = 0
  all[0]!.fault = () => {
    calls += 1
    return calls % 3 === 0 ? fault : undefined
  }
  for (let round = 0; round < 20; round++) {
    const { header } = await nodes.head()
    expect((await nodes.logsOfBlock(header, ADDRESSES)).logs).toHaveLength(2)
    const headers = await nodes.headersAt([101, 102])
    expect(headers.map((each) => each?.number)).toEqual([101, 102])
    expect(await nodes.headersAt(headers.map((each) => each!.hash))).toEqual(headers)
  }
})

test('of a check that was refused in the middle, what was answered is kept', async () => {
  const { nodes, all, timing } = await connect([CHAIN, CHAIN])
  const tooMany: Fault = { status: 429, headers: { 'retry-after': '20' } }
  const methods: string[] = []
  all[0]!.fault = ({ method, params }) => {
    methods.push(`${method} ${params[0] ?? ''}`)
    return methods.length % 2 === 0 ? tooMany : undefined
  }
  for (let round = 0; round < 3; round++) {
    await nodes.head()
    await expect.poll(() => nodes.status()[0]?.state).not.toBe('avoided')
    timing.advance(60_000)
  }
  await expect.poll(() => methods.filter((each) => each === 'eth_chainId ')).toHaveLength(1)
  expect(methods.filter((each) => each === 'eth_getBlockByNumber 0x64').length).toBeLessThanOrEqual(2)
})

test('a node that asks for a long pause at the first call is not waited for', async () => {
  const { nodes, all, timing } = await connect([CHAIN])
  all[0]!.fault = () => ({ status: 429, headers: { 'retry-after': '600' } })
  for (let call = 0; call < 2; call++) {
    await expect(nodes.head()).rejects.toThrow(/node1 .* is paused: .*limits the rate/)
  }
  expect(nodes.noNode().retryAfterMs).toBe(600_000)
  expect(timing.pauses).toEqual([])

  all[0]!.fault = () => undefined
  timing.advance(600_000)
  expect((await nodes.head()).header.number).toBe(119)
})

test('a wrong log is found by the bloom, and the next node is asked', async () => {
  const { nodes, all } = await connect([CHAIN, CHAIN])
  const { header } = await nodes.head()
  const stray = { ...CHAIN[19]!.logs[0], topics: [`0x${'cd'.repeat(32)}`] }
  all[0]!.fault = ({ method }) => (method === 'eth_getLogs' ? { result: [stray] } : undefined)

  const { node, logs } = await nodes.logsOfBlock(header, ADDRESSES)

  expect(node.name).toBe('node2')
  expect(logs).toHaveLength(2)
  expect(nodes.status()[0]?.state).toBe('avoided')
})

test('logs from receipts are proven: a node that leaves one out is accused', async () => {
  const { nodes, all } = await connect([CHAIN, CHAIN])
  const { header } = await nodes.head()
  const [receipt] = CHAIN[19]!.receipts
  const less = { ...receipt, logs: (receipt!.logs as unknown[]).slice(1) }
  all[0]!.fault = ({ method }) => (method === 'eth_getBlockReceipts' ? { result: [less] } : undefined)

  const { node, logs } = await nodes.provenLogsOfBlock(header, ADDRESSES)

  expect(node.name).toBe('node2')
  expect(logs).toHaveLength(2)
  all[1]!.fault = ({ method }) => (method === 'eth_getBlockReceipts' ? { result: null } : undefined)
  await expect(nodes.provenLogsOfBlock(header, ADDRESSES)).rejects.toMatchObject({ kind: 'unknown_block' })
})

test('nodes that give no receipts of a block are named once each, and one that fails for the moment is asked again', async () => {
  const named: string[] = []
  const chains = [CHAIN, CHAIN, CHAIN, CHAIN, CHAIN]
  const { nodes, all, timing } = await connect(chains, {
    onWithoutReceipts: (shown) => named.push(shown.slice(0, 5)),
  })
  const answers: readonly (Fault | undefined)[] = [
    undefined,
    { error: { code: -32_601, message: 'the method eth_getBlockReceipts does not exist' } },
    { error: { code: -32_000, message: 'not part of your plan' } },
    { result: null },
    { status: 502, body: '<html>' },
  ]
  for (const [at, answer] of answers.entries())
    all[at]!.fault = ({ method }) => (method === 'eth_getBlockReceipts' ? answer : undefined)

  await nodes.askForReceipts()
  expect(named.toSorted()).toEqual(['node2', 'node3', 'node4'])

  all[4]!.fault = ({ method }) => (method === 'eth_getBlockReceipts' ? { result: null } : undefined)
  timing.advance(MINUTE_MS)
  const askAgain = async () => {
    await nodes.askForReceipts() // The node that failed is checked meanwhile.
    return named.toSorted()
  }
  await expect.poll(askAgain).toEqual(['node2', 'node3', 'node4', 'node5'])
})

test.each<
  [string, (readonly [chain: readonly ScriptedBlock[], finalized: number | undefined])[], number | undefined]
>([
  [
    'the lower answer, where the other node agrees',
    [
      [CHAIN, 112],
      [CHAIN, 110],
    ],
    110,
  ],
  [
    'one node alone',
    [
      [CHAIN, 112],
      [CHAIN, undefined],
    ],
    112,
  ],
  ['no node knows one', [[CHAIN, undefined]], undefined],
  [
    'a minority is on another chain',
    [
      [FORK, 116],
      [CHAIN, 118],
      [CHAIN, 117],
    ],
    117,
  ],
  [
    'between equals, the first one is right',
    [
      [CHAIN, 118],
      [FORK, 116],
    ],
    118,
  ],
  [
    'a fork above the final block does not matter',
    [
      [CHAIN, 114],
      [FORK, 113],
    ],
    113,
  ],
])('what is final: %s', async (_name, given, expected) => {
  const { nodes, all } = await connect(given.map(([chain]) => chain))
  given.forEach(([, finalized], at) => {
    all[at]!.finalized = finalized
  })

  expect((await nodes.finalized())?.number).toBe(expected)
})

test('a failure of a contract is an answer: no other node is asked', async () => {
  const { nodes, all } = await connect([CHAIN, CHAIN])
  await nodes.head()
  all[0]!.fault = () => ({ error: { code: 3, message: 'execution reverted', data: '0x' } })
  all[1]!.calls.length = 0

  await expect(
    nodes.run((node) => node.read({ to: LAND, data: '0x' }, `0x${'00'.repeat(32)}`)),
  ).rejects.toMatchObject({
    kind: 'reverted',
  })
  expect(all[1]!.calls).toEqual([])
  expect(nodes.status()[0]?.state).toBe('usable')
})

async function connect(chains: readonly (readonly ScriptedBlock[])[], options: Partial<ConnectOptions> = {}) {
  const all = await Promise.all(chains.map((chain) => ScriptedNode.start(chain)))
  const timing = new FixedTiming()
  for (const scripted of all) scripted.onHang = timing.noteHang
  const counters = new CallCounters()
  const nodes = connectNodes({
    urls: all.map(({ url }) => url),
    network: { chainId: 1, contracts: { LANDRegistry: { address: LAND, startBlock: 100 } } },
    timing,
    counters,
    random: () => 0,
    ...options,
  })
  return { nodes, all, timing, counters }
}

async function headOf(nodes: Awaited<ReturnType<typeof connect>>['nodes']) {
  const { node, header } = await nodes.head()
  const { state } = nodes.status().find(({ name }) => name === node.name)!
  return { name: node.name, number: header.number, state }
}

function timeouts(counters: CallCounters): number {
  return counters
    .read()
    .filter(({ result }) => result === 'timeout')
    .reduce((sum, { calls }) => sum + calls, 0)
}
