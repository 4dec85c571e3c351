import { FeedGrid, type FeedPart, readFeed } from '@landpass/client/feed'
import { type Chain, openChain } from '@landpass/server/chain/chain'
import { readConfig } from '@landpass/server/config/config'
import type { Db } from '@landpass/server/db/engine'
import { readChainPosition } from '@landpass/server/land/changes/chain-position'
import { type SimulatedChain, startSimulatedChain } from '@landpass/server/test/support/chain/simulated-chain'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { storeOffer } from '@landpass/server/test/support/listings/stored-offer'
import { expectAccessible } from '@landpass/server/test/support/pages/axe'
import { SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import { PageMap } from '@landpass/server/test/support/pages/page-map'
import { pauseFrames } from '@landpass/server/test/support/pages/paused-frames'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** The map page over a land that follows a simulated chain: the node, the follower, the server and a browser. */

/** Large enough that the feed names the cells that change, and does not send the whole world again. */
const WORLD = '-12,-12,12,12'
const EXPLORER = 'https://scan.example/tx/{tx}?from=landpass'
const BLOCK_AGE_S = 12
const NODE = { head: 9, lagBlocks: 1, lagSeconds: 12 }

const openEngine = freshEngine('postgres')
const openPage = testBrowser()
const clock = testClock()
let db: Db
let simulated: SimulatedChain
let chain: Chain
let server: LandServer
let origin: string

beforeAll(async () => {
  const engine = await openEngine()
  db = engine.db
  simulated = await startSimulatedChain({ blocks: 300, world: WORLD, transactions: 2 })
  const env = { ...simulated.env, DATA_DIR: emptyDir(), CHAIN_EXPLORER_URL: EXPLORER }
  const config = readConfig(env)
  const { signal } = new AbortController()
  chain = await openChain({ config, db, clock, signal, log: () => undefined })
  await chain.readHistory({ ground: undefined, until: undefined, replaces: false }, () => undefined)
  await followTo((await simulated.head()).number)
  server = await startLandServer(engine, clock, env)
  origin = server.origin
})
afterAll(async () => {
  await chain.close()
  simulated.stop()
  await server.close()
})

/** Follows to a block, which then is a few seconds old. */
async function followTo(until: number): Promise<void> {
  const { signal } = new AbortController()
  expect(await chain.follow({ until, signal, endsAt: ['stopped', 'no position'] })).toBe('reached')
  const block = (await readChainPosition(db))!.blocks.at(-1)!
  clock.set((block.timeS + BLOCK_AGE_S) * 1000)
}

interface Sale {
  readonly id: string
  readonly txHash: string
  readonly closedTxHash: string | null
  readonly block: number
}

/** Makes blocks until an open offer of a parcel is bought in a block of which the feed names the changed cells. */
async function nextSale(): Promise<Sale> {
  for (;;) {
    const grid = new FeedGrid(await feed())
    const sale = await nextSaleInAnyBlock()
    // If much changes at once, such as the rights in all land of an owner, the feed sends the whole of this small world.
    if (grid.apply(await feed(grid.state))) return sale
  }
}

async function feed(since?: string): Promise<FeedPart> {
  const response = await fetch(`${origin}/v2/feed${since ? `?since=${since}` : ''}`)
  return readFeed(new Uint8Array(await response.arrayBuffer()))
}

async function nextSaleInAnyBlock(): Promise<Sale> {
  const sales = async () => {
    const rows = await db.selectFrom('publication').selectAll().where('status', '=', 'sold').execute()
    return rows.filter(({ asset_type }) => asset_type === 'parcel')
  }
  const known = new Set((await sales()).map(({ key }) => key))
  for (;;) {
    const { number } = await simulated.mine(1)
    await followTo(number)
    const sale = (await sales()).find(({ key }) => !known.has(key))
    if (sale)
      return { id: sale.asset_id, txHash: sale.tx_hash, closedTxHash: sale.closed_tx_hash, block: number }
  }
}

/** Below the legends, which are closed on a phone. */
const ageOf = (page: Page, words: string | RegExp = '') => page.locator('.chain-age', { hasText: words })
const expectAge = (page: Page, words: string | RegExp = '') =>
  ageOf(page, words).waitFor({ state: 'attached' })
const troubleOf = (page: Page) => page.locator('.chain-trouble')

test('a sale shows on a phone: it lights up, the block number rises, and the panel links its transaction', async () => {
  const [size, theme] = ['phone', 'dark'] as const
  const { page, photograph } = await openPage(`${origin}/?layer=none`, { size, theme })
  const map = new PageMap(page)
  await map.shows()
  const { number } = await simulated.head()
  await expectAge(page, new RegExp(`^Updated 1\\d sec\\.? ago.*As of block ${number}`))
  await expectAge(page, 'Not compared with the contracts yet')
  expect(await troubleOf(page).textContent()).toBe('')
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  const playFrames = await pauseFrames(page)
  const [paints, whole] = [await map.paints(), await map.wholePaints()]

  const sale = await nextSale()

  const isLit = () => playFrames().then(() => map.isLit())
  await expect.poll(isLit, SOON).toBe(true)
  await expect.poll(isLit, SOON).toBe(false)
  // The fade is drawn in several frames, and only where it is.
  const fades = (await map.paints()) - paints - ((await map.wholePaints()) - whole)
  expect(fades).toBeGreaterThan(3)
  await page.clock.resume()
  await expectAge(page, `As of block ${sale.block}`)
  await photograph(`chain-${size}-${theme}`)

  const periods = JSON.stringify([
    { minDays: 1, maxDays: 7, pricePerDay: `20${'0'.repeat(18)}` },
    { minDays: 8, maxDays: 30, pricePerDay: `15${'0'.repeat(18)}` },
  ])
  for (const state of ['paused', 'open'] as const)
    await storeOffer(db, clock, { reading: 'rentals', asset_id: sale.id, price: '15', periods, state })
  await page.goto(`${origin}/?parcel=${sale.id}`)
  await page.getByText('The same as a table').click()
  const link = page.locator(`.history-table a[href="${EXPLORER.replace('{tx}', sale.txHash)}"]`)
  expect(await link.first().getAttribute('rel')).toBe('noreferrer') // It may have replaced another offer.
  const closing = page.locator(`.history-table a[href="${EXPLORER.replace('{tx}', sale.closedTxHash!)}"]`)
  await closing.filter({ hasText: 'Sold' }).first().waitFor()
  await page.getByText('Sold', { exact: true }).first().waitFor()
  await page.locator('.sale-offer').getByText('signed outside the chain').waitFor()
  const rents = page.getByRole('region', { name: 'For rent' }).locator('.rental-offer')
  const shown = ['1 to 7 days20 MANA a day', '8 to 30 days15 MANA a day']
  await expect
    .poll(() => rents.allTextContents(), SOON)
    .toEqual([
      [...shown, 'Can be accepted until 1 Jan 2100'].join(''),
      [...shown, 'Cannot be accepted now: the contract of rents is paused'].join(''),
    ])
  await expectAccessible(page)
  await photograph(`chain-panel-${size}-${theme}`)
})

test('events of the change stream name the block that the land is at', async () => {
  const { number, hash } = await simulated.head()
  const stream = await fetch(`${origin}/v2/changes`)
  const reader = stream.body!.getReader()
  let text = ''
  while (!text.includes('\ndata: ')) text += Buffer.from((await reader.read()).value!).toString()
  await reader.cancel()

  expect(text).toContain(`"block":{"number":${number},"hash":"${hash}"}`)
})

test('a node that stops: the page says that the map is delayed, and why, until it answers again', async () => {
  const opened = [
    await openPage(origin, { size: 'phone' }),
    await openPage(origin, { size: 'desktop', theme: 'dark' }),
  ] as const
  for (const { page } of opened) await expectAge(page)
  const following = new AbortController()
  await simulated.change({ down: true })
  const failing = chain.follow({ until: undefined, signal: following.signal, endsAt: [] })
  await expect.poll(async () => (await readChainPosition(db))!.status, SOON).toContain('sinceMs')
  clock.set(clock.nowMs() + 61_000)
  await expect
    .poll(() => server.data('/v2/chain'), SOON)
    .toMatchObject({ state: 'following', node: null, explorer: EXPLORER, block: { ageSeconds: 73 } })

  for (const { page, photograph } of opened) {
    await readAgain(page)
    await troubleOf(page).getByText('The map is delayed: no Ethereum node answers the server.').waitFor()
    expect(await ageOf(page).count()).toBe(0)
    await troubleOf(page).getByText('Message of the server').click()
    await troubleOf(page).getByText('no Ethereum node can be asked').waitFor()
    await expectAccessible(page)
    await photograph(`chain-delayed-${page.viewportSize()!.width < 500 ? 'phone-light' : 'desktop-dark'}`)
  }

  await simulated.change({ down: false })
  following.abort()
  await failing
  clock.set(clock.nowMs() + 600_000) // what failed may be tried again
  const { number } = await simulated.mine(1)
  await followTo(number)
  for (const { page } of opened) {
    await readAgain(page)
    await expectAge(page, `As of block ${number}`)
    expect(await troubleOf(page).textContent()).toBe('')
  }
  const [, { page: desktop }] = opened
  await desktop.getByText(/^Updated \d/).click()
  await desktop.getByText(`As of block ${number}`).waitFor()
  await expectAccessible(desktop)
})

test('each other state is said in words', async () => {
  const { page, photograph } = await openPage(`${origin}/?lang=fr`, { size: 'phone', theme: 'dark' })
  await expectAge(page, 'Bloc')
  const status = await server.data<Record<string, unknown>>('/v2/chain')
  const off = { node: null, reason: 'Block 12 changed, although it was final.' }
  for (const [words, changes] of [
    [
      'Le serveur a 1 234 blocs de retard',
      { reason: null, node: { head: 9, lagBlocks: 1234, lagSeconds: 15_000 } },
    ],
    ['ne peut pas utiliser les réponses', { reason: 'The logs contradict the block.', node: NODE }],
    ['Le serveur lit l’histoire de la chaîne', { ...off, state: 'history', block: null }],
    ['aucun processus ne suit la chaîne', { ...off, state: 'off' }],
    ['le serveur a cessé de suivre la chaîne', { ...off, state: 'stopped' }],
  ] as const) {
    await page.route('**/v2/chain', (route) =>
      route.fulfill({ json: { ok: true, data: { ...status, ...changes } } }),
    )
    await readAgain(page)
    // Large numbers have a narrow space.
    const said = async () => (await troubleOf(page).textContent())!.replaceAll(/\s/g, ' ')
    await expect.poll(said, SOON).toContain(words)
    // Screen readers announce no number: it would be another one every few seconds.
    expect(await troubleOf(page).getByRole('status').textContent()).toMatch(/^\D{20,}$/)
    await page.unroute('**/v2/chain')
  }
  await expectAccessible(page)
  await photograph('chain-stopped-phone-dark')

  await page.route('**/v2/chain', (route) =>
    route.fulfill({ json: { ok: true, data: { ...status, ...off, state: 'off', block: null } } }),
  )
  await readAgain(page)
  await expect.poll(() => troubleOf(page).textContent(), SOON).toBe('')
  expect(await ageOf(page).count()).toBe(0)
})

/** As a page that was hidden and is shown again. */
async function readAgain(page: Page): Promise<void> {
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
}
