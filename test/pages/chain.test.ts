import { REAL_TIMING } from '@landpass/server/chain/rpc/timing'
import { MINUTE_MS } from '@landpass/server/clock'
import type { Db } from '@landpass/server/db/engine'
import { readChainPosition } from '@landpass/server/land/changes/chain-position'
import { type FollowedLand, followLand } from '@landpass/server/test/support/chain/followed-land'
import { type ChainHere, simulateChainHere } from '@landpass/server/test/support/chain/simulated-chain'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { storeOffer } from '@landpass/server/test/support/listings/stored-offer'
import { expectAccessible } from '@landpass/server/test/support/pages/axe'
import { lookAgain, SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
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
let simulated: ChainHere
let land: FollowedLand
let server: LandServer
let origin: string

beforeAll(async () => {
  const engine = await openEngine()
  db = engine.db
  simulated = await simulateChainHere({ blocks: 300, world: WORLD, transactions: 2 })
  // Without its pauses, following would never rest while the node is down.
  land = await followLand(db, simulated, { clock, timing: REAL_TIMING })
  await land.readHistory()
  await follow()
  server = await startLandServer(engine, clock, { ...simulated.env, CHAIN_EXPLORER_URL: EXPLORER })
  origin = server.origin
})
afterAll(() => server.close())

/** Follows to the newest block, which then is a few seconds old. */
async function follow(): Promise<void> {
  const { number, timeS } = simulated.chain.head
  await land.followTo(number)
  clock.set((timeS + BLOCK_AGE_S) * 1000)
}

interface Sale {
  readonly id: string
  readonly txHash: string
  readonly closedTxHash: string | null
}

/** Makes a block in which an open offer of a parcel is bought, and nothing else happens. */
async function sell(): Promise<Sale> {
  const offers = db.selectFrom('publication').selectAll()
  const open = offers.where('asset_type', '=', 'parcel').where('status', '=', 'open')
  const good = open.where('expires_at_ms', '>', clock.nowMs() + MINUTE_MS).orderBy('key')
  const { key, asset_id: parcel } = await good.executeTakeFirstOrThrow()
  simulated.chain.mineWith((execute) => simulated.chain.players.do('sale', { parcel }, execute))
  await follow()
  const sold = await offers.where('key', '=', key).executeTakeFirstOrThrow()
  expect(sold.status).toBe('sold')
  return { id: parcel, txHash: sold.tx_hash, closedTxHash: sold.closed_tx_hash }
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
  const { number } = simulated.chain.head
  await expectAge(page, new RegExp(`^Updated 1\\d sec\\.? ago.*As of block ${number}`))
  await expectAge(page, 'Not compared with the contracts yet')
  expect(await troubleOf(page).textContent()).toBe('')
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  const playFrames = await pauseFrames(page)
  const [paints, whole] = [await map.paints(), await map.wholePaints()]

  const sale = await sell()
  const periods = JSON.stringify([
    { minDays: 1, maxDays: 7, pricePerDay: `20${'0'.repeat(18)}` },
    { minDays: 8, maxDays: 30, pricePerDay: `15${'0'.repeat(18)}` },
  ])
  for (const state of ['paused', 'open'] as const)
    await storeOffer(db, clock, { reading: 'rentals', asset_id: sale.id, price: '15', periods, state })

  const isLit = () => playFrames().then(() => map.isLit())
  await expect.poll(isLit, SOON).toBe(true)
  await expect.poll(isLit, SOON).toBe(false)
  // The fade is drawn in several frames, and only where it is.
  const fades = (await map.paints()) - paints - ((await map.wholePaints()) - whole)
  expect(fades).toBeGreaterThan(3)
  await page.clock.resume()
  await expectAge(page, `As of block ${number + 1}`)
  await photograph(`chain-${size}-${theme}`)

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
  const { number, hash } = simulated.chain.head
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
  const failing = land.chain.follow({ until: undefined, signal: following.signal, endsAt: [] })
  await expect.poll(async () => (await readChainPosition(db))!.status, SOON).toContain('sinceMs')
  clock.set(clock.nowMs() + 61_000)
  await expect
    .poll(() => server.data('/v2/chain'), SOON)
    .toMatchObject({ state: 'following', node: null, explorer: EXPLORER, block: { ageSeconds: 73 } })

  for (const { page, photograph } of opened) {
    await lookAgain(page)
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
  await follow()
  for (const { page } of opened) {
    await lookAgain(page)
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
    await lookAgain(page)
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
  await lookAgain(page)
  await expect.poll(() => troubleOf(page).textContent(), SOON).toBe('')
  expect(await ageOf(page).count()).toBe(0)
})
