import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAINNET } from '@landpass/server/chain/networks/known-networks'
import { parseTrade } from '@landpass/server/listings/signed-trade'
import { tradeContractsOf } from '@landpass/server/listings/trade-contracts'
import { TradeVerifier } from '@landpass/server/listings/verify-trade'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { writeDemoSnapshot } from '../demo/write-snapshot.ts'
import { type MarketChainOptions, openMarketChain } from './market-chain.ts'
import type { OpenedChain } from './running-chain.ts'
import { hasChain } from './store/stored-names.ts'
import { TRUTH_PARTS, truthAt } from './truth.ts'

const ADDRESSES = Object.fromEntries(
  Object.entries(MAINNET.contracts).map(([role, { address }]) => [role, address]),
)
const DAY_S = 86_400
let snapshot: string

beforeAll(async () => {
  snapshot = mkdtempSync(join(tmpdir(), 'landpass-market-'))
  await writeDemoSnapshot(1, snapshot, undefined, { radius: 8 })
})
afterAll(() => rmSync(snapshot, { recursive: true }))

test('begins with a block that follows from the snapshot and the chain, and names it there', async () => {
  const [one, again, other] = [
    await open(),
    await open(),
    await open({ chainId: 7, snapshot: copyOfSnapshot() }),
  ]
  const { chain } = JSON.parse(readFileSync(join(snapshot, 'manifest.json'), 'utf8'))

  expect(chain).toEqual({ chain_id: 1337, block_number: 30_000_000, block_hash: one.chain.head.hash })
  expect(again.chain.head.hash).toBe(one.chain.head.hash)
  expect(other.chain.head.hash).not.toBe(one.chain.head.hash)
  await expect(open({ chainId: 8 })).rejects.toThrow('is of block 30000000 of chain 1337')
})

test('waits for a snapshot that is not complete', async () => {
  const folder = mkdtempSync(join(snapshot, 'later-'))
  const opening = open({ snapshot: folder })
  await writeDemoSnapshot(1, folder, undefined, { radius: 8 })

  const { land } = (await opening).chain.contracts
  expect(land.owners.keys.length).toBeGreaterThan(100)
  expect(land.total()).toBe(land.owners.keys.length)
})

test('keeps the newest blocks, in memory and in the store, and goes on from there', async () => {
  const store = join(mkdtempSync(join(snapshot, 'store-')), 'chain')
  const { chain, close } = await open({ store, keptBlocks: 20 })
  for (let i = 0; i < 70; i++) chain.mine()
  chain.reorganise({ depth: 9, length: 11, keep: 0.5 })
  const { head, oldest, first } = chain
  const before = stateOf(chain)
  close()

  expect(head.number - oldest.number).toBeLessThanOrEqual(40)
  expect(chain.block(first.number)).toBe(first)
  expect(chain.block(first.number + 1)).toBeUndefined()
  expect(() => chain.reorganise({ depth: 60, length: 61, keep: 1 })).toThrow('depth 60 is too much')
  expect(readdirSync(store).filter((name) => name.startsWith('state-'))).toHaveLength(1)
  const again = await open({ store, keptBlocks: 20 })
  expect(again.chain.head).toEqual(head)
  expect(again.chain.first).toEqual(first)
  expect(stateOf(again.chain)).toEqual(before)
  expect(again.chain.mine().parentHash).toBe(head.hash)
})

test('a block that was not written whole is cut off, other damage is refused', async () => {
  const store = mkdtempSync(join(snapshot, 'torn-'))
  expect(hasChain(store)).toBe(false)
  const { chain, close } = await open({ store })
  for (let i = 0; i < 5; i++) chain.mine()
  close()
  const blocks = join(store, 'blocks-30000000.ndjson')
  appendFileSync(blocks, '{"n":30000006,"t":1')
  const { chain: again, close: closeAgain } = await open({ store })
  closeAgain()

  expect(again.head.hash).toBe(chain.head.hash)
  expect(readFileSync(blocks, 'utf8').endsWith('}\n')).toBe(true)
  await expect(open({ store, chainId: 5 })).rejects.toThrow('is of chain 1337.')
  appendFileSync(blocks, 'no block\n')
  await expect(open({ store })).rejects.toThrow(`${blocks}:6 is damaged.`)
  await expect(open({ store: join(store, 'none'), snapshot: undefined })).rejects.toThrow(
    'There is no chain to continue',
  )
})

test('players do what they are asked to do, or say why not', async () => {
  const { chain } = await open()
  const { land, estates } = chain.contracts
  const sell = (named: object) => {
    chain.mineWith((execute) => chain.players.do('sale', named, execute))
  }
  const estate = String(
    BigInt([...estates.owners.entries()].find(([id]) => estates.parcelsOf(id).length > 1)![0]),
  )
  const { number } = chain.head
  const owner = estates.owners.get(estates.owners.keys[Number(estate) - 1]!)
  sell({ estate })

  expect(chain.head.number).toBe(number + 1)
  expect(estates.owners.get(estates.owners.keys[Number(estate) - 1]!)).not.toBe(owner)
  const member = estates.parcelsOf(estates.owners.keys[Number(estate) - 1]!)[0]!
  expect(land.ownerOf(member)).toBe(estates.address)
  expect(() => sell({ parcel: '500,0' })).toThrow('parcel 500,0 has no owner')
  expect(() => sell({ parcel: 'here' })).toThrow('parcel is x,y')
  expect(() => sell({ parcel: '0,1', estate })).toThrow('not both')
  expect(chain.head.number).toBe(number + 1)
})

test('the end of a rent is that of the land that was named', async () => {
  const { chain } = await open()
  const { land, rentals } = chain.contracts
  const act = (kind: 'rent' | 'rent_ended', named: object, timeS?: number) => {
    chain.mineWith((execute) => chain.players.do(kind, named, execute), timeS)
  }
  const rented = () => [...rentals.rentals.entries()].filter(([key]) => key.startsWith(land.address))
  while (rented().length < 2) act('rent', {})
  const [first, second] = rented().map(([key]) => key.split(' ')[1])
  const { lessor, endS } = rentals.rental(land.address, second!)!
  const named = { parcel: chain.players.nameOf({ token: land, id: second! }).split(' ')[1] }

  expect(() => act('rent_ended', named)).toThrow(`rent_ended is not possible now with parcel ${named.parcel}`)
  expect(() => act('rent_ended', { parcel: '500,0' }, endS + 30 * DAY_S)).toThrow(
    'rent_ended is not possible now',
  )
  act('rent_ended', named, endS + 30 * DAY_S)
  expect([land.ownerOf(first!), land.ownerOf(second!)]).toEqual([rentals.address, lessor])
})

test('owners sign offers, which end when they are accepted or cancelled', async () => {
  const { chain } = await open()
  const verifier = new TradeVerifier({ ...tradeContractsOf(MAINNET)!, chainId: 1337 })
  const offers = () => chain.players.offers!.openAt(chain.head.timeS)
  const nextOffer = () => {
    for (let days = 0; offers().length === 0 && days < 100; days++) chain.mine(chain.head.timeS + DAY_S)
    return offers()[0]!
  }
  for (const kind of ['signed_sale', 'signed_offer_cancelled'] as const) {
    const { token, id, owner, json } = nextOffer()
    const trade = parseTrade(JSON.parse(JSON.stringify(json)))

    expect(verifier.verify(trade)).toMatchObject({ isSigned: true, offer: { isForEverybody: true } })
    expect(token.mayTransfer(json.contract, id)).toBe(true)
    const [type, name] = chain.players.nameOf({ token, id }).split(' ')
    chain.mineWith((execute) => chain.players.do(kind, { [type!]: name }, execute))
    expect(token.ownerOf(id) !== owner).toBe(kind === 'signed_sale')
    expect(offers().map((offer) => offer.json.id)).not.toContain(json.id)
  }
})

async function open(options: Partial<MarketChainOptions> = {}): Promise<OpenedChain> {
  const closing = new AbortController()
  onTestFinished(() => closing.abort())
  const opened = await openMarketChain({
    ...{ chainId: 1337, seed: 3, transactionsPerBlock: 1, snapshot, store: undefined },
    ...{ addresses: ADDRESSES, signal: closing.signal },
    ...options,
  })
  await opened.loaded
  return opened
}

/** What the contracts have stored, in an order that says nothing of when. */
function stateOf({ contracts, head }: OpenedChain['chain']) {
  const parts = Object.entries(truthAt(contracts, head.number, TRUTH_PARTS))
  return parts.map(([part, rows]) => [part, rows.map((row) => JSON.stringify(row)).sort()])
}

/** A snapshot of another chain than the one that its manifest names. */
function copyOfSnapshot(): string {
  const folder = mkdtempSync(join(tmpdir(), 'landpass-market-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of readdirSync(snapshot).filter((one) => one.endsWith('.gz')))
    cpSync(join(snapshot, name), join(folder, name))
  const { chain: _, ...manifest } = JSON.parse(readFileSync(join(snapshot, 'manifest.json'), 'utf8'))
  appendFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest))
  return folder
}
