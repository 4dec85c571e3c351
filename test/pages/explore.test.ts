import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, startLandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { applyLandChanges } from '@landpass/server/test/support/land/land-changes'
import { publicationRow } from '@landpass/server/test/support/land/land-rows'
import { startTinyLand, type TinyLand } from '@landpass/server/test/support/land/tiny-land'
import {
  ANN,
  BOB,
  hash,
  MUSEUM,
  TINY_WORLD,
  tinyRecords,
  tinySnapshot,
} from '@landpass/server/test/support/land/tiny-world'
import { COLOUR_RULES, expectAccessible } from '@landpass/server/test/support/pages/axe'
import {
  type OpenedPage,
  type OpenOptions,
  SOON,
  testBrowser,
} from '@landpass/server/test/support/pages/browser'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** While the offers of the tiny world are open. */
const JUNE = Date.parse('2019-06-01T12:00:00.000Z')
/** With nothing far out, so that the map can come nearer than the whole world. */
const WIDE = '-2,-2,2,2;-40,-40,-40,-40;40,40,40,40'

const HEBREW_NAME = 'בית 12'
/** Turns what follows it, and ends an isolation that it does not belong to. */
const TURNS = '\u202e\u2069'

const openEngine = freshEngine('postgres')
const openPage = testBrowser()
const clock = testClock(JUNE)
let server: LandServer
let change: TinyLand['change']

beforeAll(async () => {
  const land = { records: explorersLand(), env: { WORLD: WIDE } }
  ;({ server, change } = await startTinyLand(await openEngine(), clock, land))
})
afterAll(() => server.close())

describe('search', () => {
  test('finds places, land, districts and owners, flies there and shows them', async () => {
    const { page } = await explore('/?at=2,2&zoom=18')
    const before = {
      at: '2,2',
      parcel: null,
      estate: null,
      district: null,
      mine: null,
      layer: null,
      list: null,
    }
    for (const { kind, typed, query } of [
      { kind: 'coordinates', typed: ' ( 1; −1 ) ', query: { parcel: '1,-1' } },
      { kind: 'a parcel’s name', typed: 'first', query: { parcel: '1,-1' } },
      { kind: 'an estate’s id', typed: '#2', query: { estate: '2' } },
      { kind: 'an estate by the word for it', typed: 'Estate 2', query: { estate: '2' } },
      { kind: 'an estate’s name', typed: 'tower', query: { estate: '1' } },
      { kind: 'a district', typed: 'museum', query: { district: MUSEUM, layer: 'districts' } },
      {
        kind: 'an address',
        typed: ANN.toUpperCase(),
        query: { mine: ANN, layer: 'mine', list: 'parcels', of: ANN },
      },
      { kind: 'the beginning of an address', typed: ANN.slice(0, 12), query: { mine: ANN, layer: 'mine' } },
    ]) {
      await search(page, typed)

      await expectQuery(page, query, kind)
      await expect.poll(() => new URL(page.url()).searchParams.get('at'), SOON).not.toBe('2,2')
      await page.goBack()
      await expectQuery(page, before, `back from ${kind}`)
    }
  })

  test('is a combobox: arrows mark, Enter chooses, Escape closes and then clears, and the count is announced', async () => {
    const { page } = await explore('/')
    const box = page.getByRole('combobox', { name: 'Search' })
    await page.keyboard.press('/')
    await page.keyboard.type('of ')
    const options = page.getByRole('listbox', { name: 'Results of the search' }).getByRole('option')
    await expect.poll(() => options.count(), SOON).toBe(2)
    await page.getByText('Results: 2').waitFor()
    await expectAccessible(page)

    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')

    const marked = options.and(page.locator('[aria-selected=true]'))
    expect(await marked.count()).toBe(1)
    expect(await box.getAttribute('aria-activedescendant')).toBe(await marked.getAttribute('id'))
    expect(await options.first().getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('Escape')
    expect([await box.getAttribute('aria-expanded'), await box.inputValue()]).toEqual(['false', 'of '])
    await page.keyboard.press('Escape')
    expect(await box.inputValue()).toBe('')
  })

  test('Enter that comes before the results takes the first of them', async () => {
    const { page } = await explore('/')
    await expectWorld(page)
    // The address has two digits of it.
    const view = async () => (await viewOf(page)).map((value) => value.toFixed(2))
    await expect.poll(view, SOON).toHaveLength(3)
    const whole = await view()

    await page.keyboard.press('/')
    await page.keyboard.insertText('museum')
    await page.keyboard.press('Enter')

    await expectQuery(page, { district: MUSEUM })
    await expect.poll(view, SOON).not.toEqual(whole)
    await page.goBack() // to an address that said nothing of where the map is
    await expectQuery(page, { district: null })
    await expect.poll(view, SOON).toEqual(whole)
  })

  test('shows a place while it is typed, goes back with Escape, and stays where it is chosen', async () => {
    const { page, photograph } = await explore('/?at=2,2&zoom=18')
    await expectWorld(page)
    const box = page.getByRole('combobox', { name: 'Search' })
    const middle = async () => (await viewOf(page)).slice(0, 2)

    await box.fill('1,-1')
    await expect.poll(middle, SOON).toEqual([1, -1])
    await expectQuery(page, { parcel: null })
    await photograph('explore-typed-place')
    await box.press('Escape')
    await expect.poll(middle, SOON).toEqual([2, 2])
    await box.fill('0,-2')
    await page.getByRole('option', { name: /^0,-2 Road/ }).waitFor()
    await expect.poll(middle, SOON).toEqual([0, -2])
    await box.press('Enter')

    await expectQuery(page, { parcel: '0,-2' })
    await page.goBack()
    await expect.poll(middle, SOON).toEqual([2, 2])
  })

  test('says that nothing was found, that a place is outside, that it is offline, and finds places without the server', async () => {
    const { page, problems } = await explore('/')
    const box = page.getByRole('combobox', { name: 'Search' })
    await box.fill('nowhere at all')
    await page.getByText('Nothing was found for “nowhere at all”.').waitFor()
    await box.fill('900,-1')
    await page.getByText('900,-1 lies outside the world. The world reaches from -40,-40 to 40,40.').waitFor()
    await box.fill('3,3')
    await page.getByText('3,3 lies outside the world.', { exact: true }).waitFor()

    await page.context().setOffline(true)
    await box.fill('elsewhere')
    await page.getByRole('button', { name: 'Try again' }).waitFor()
    await page.getByText('You are offline; please check your connection').waitFor()
    await page.getByText('You are offline; the map may be out of date.').filter({ visible: true }).waitFor()
    await search(page, '1,1')

    await expectQuery(page, { parcel: '1,1' })
    await page.close() // what it asks for after this is no problem either
    forgive(problems, /ERR_INTERNET_DISCONNECTED/)
  })
})

describe('the address', () => {
  const LINK =
    '?at=1,-1&zoom=20&parcel=1,-1&layer=price&list=land&sort=price.asc&status=open&lang=es&theme=dark'

  test('says everything: opened elsewhere, it shows the same', async () => {
    const { page } = await explore(`/${LINK}`, { locale: 'ko-KR', theme: 'light' })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])

    await page.getByRole('button', { name: 'Compartir' }).click()
    const dialog = page.getByRole('dialog', { name: 'Compartir' })
    await dialog.getByRole('button', { name: 'Copiar: Enlace' }).click()

    await expectAccessible(page)
    expect(await dialog.getByLabel('Código').first().inputValue()).toContain(
      `<iframe src="${server.origin}/embed${LINK.replaceAll('&', '&amp;')}"`,
    )
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(`${server.origin}/${LINK}`)
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark')
    expect(await page.getByRole('radio', { name: 'Por precio' }).isChecked()).toBe(true)
    expect(await page.getByRole('region', { name: 'Selección' }).isVisible()).toBe(true)
    const organise = page.getByRole('link', { name: 'Organizar' })
    if (await organise.count())
      expect(await organise.getAttribute('href')).toBe('/organise?lang=es&theme=dark')
    await page.evaluate(`(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('no'))
      document.execCommand = () => false
    })()`)
    await dialog.getByRole('button', { name: /Copia/ }).last().click()
    await page.getByText('No se pudo copiar').waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => focused(page), SOON).toBe('Compartir')
    expect(new URL(page.url()).searchParams.get('parcel')).toBe('1,-1') // Escape has closed the dialog alone
  })

  test('follows language and theme once they are chosen, which stay through back and forward', async () => {
    const { page } = await explore('/?at=0,0&zoom=20')
    await search(page, '1,-1')
    await expectQuery(page, { parcel: '1,-1', lang: null, theme: null })

    await page.getByLabel('Language').selectOption('fr')
    await page.getByLabel('Thème').selectOption('dark')
    await expectQuery(page, { parcel: '1,-1', lang: 'fr', theme: 'dark' })
    await page.goBack()

    await expectQuery(page, { at: '0,0', parcel: null, lang: 'fr', theme: 'dark' })
    expect(await page.getByRole('combobox', { name: 'Rechercher' }).count()).toBe(1)
  })

  test('goes back and forward through what was selected, listed and shown, with the map where it was', async () => {
    const { page } = await explore('/?at=0,0&zoom=20')
    await search(page, '1,-1')
    await expectQuery(page, { at: '1,-1', parcel: '1,-1' })
    await page.getByRole('radio', { name: 'By price' }).check()
    await expectQuery(page, { layer: 'price' })
    await page.getByRole('button', { name: 'Lists' }).click()
    await expectQuery(page, { list: 'land', status: 'open' })

    await page.goBack()
    await expectQuery(page, { list: null, status: null, layer: 'price', parcel: '1,-1' })
    await page.goBack()
    await expectQuery(page, { layer: null, parcel: '1,-1' })
    expect(await page.getByRole('radio', { name: 'For sale' }).isChecked()).toBe(true)
    await page.goBack()
    await expectQuery(page, { at: '0,0', parcel: null })
    expect(await page.getByRole('region', { name: 'Selection' }).count()).toBe(0)
    await page.goForward()
    await expectQuery(page, { at: '1,-1', parcel: '1,-1' })
    await page.getByRole('region', { name: 'Selection' }).waitFor()
  })

  test('with a page that the list does not have is corrected, and back leads to the previous address', async () => {
    const { page } = await explore('/?at=0,0&zoom=20')
    await page.goto(`${server.origin}/?at=0,0&zoom=20&list=land&page=9`)

    await expectQuery(page, { list: 'land', page: '2' })
    await page.goBack()

    await expectQuery(page, { list: null })
  })

  test('leads back to a page that the list of other filters does not have', async () => {
    const { page } = await explore('/?at=0,0&zoom=20&list=land&page=2')
    const count = page.locator('.list').getByText(/^Shown: /)
    const before = await count.innerText()
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('Status').selectOption('For sale')
    await expect.poll(() => count.innerText(), SOON).not.toBe(before)
    await expectQuery(page, { page: null, status: 'open' })

    await page.goBack()

    await expect.poll(() => count.innerText(), SOON).toBe(before)
    await expectQuery(page, { page: '2', status: null })
  })

  test('may have invalid parts: the valid ones are shown', async () => {
    const { page } = await explore(
      '/?at=NaN,1&zoom=1e9&parcel=x&layer=price&list=secrets&lang=tlh&theme=1&%F0%',
    )

    expect(await page.getByRole('radio', { name: 'By price' }).isChecked()).toBe(true)
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
  })
})

describe('filters', () => {
  test('choose list, count and address; each can be removed, and an empty result says which to loosen', async () => {
    const { page, photograph } = await explore('/?at=-38,-38&zoom=60')
    await page.getByRole('button', { name: 'Filters' }).click()
    await page.getByLabel('Status').selectOption('For sale')
    await page.getByRole('button', { name: 'Results: 2' }).waitFor()
    await expectQuery(page, { zoom: '18' }) // the map has moved to them
    await page.getByRole('group', { name: 'Price in MANA' }).getByLabel('To').fill('1,2,3')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Please write a number, such as 1,500 or 0.5.').waitFor()
    await expectAccessible(page)
    await photograph('filters-desktop')
    await page.getByLabel('Status').selectOption('')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.getByLabel('Status').selectOption('For sale')
    const most = page.getByRole('group', { name: 'Price in MANA' }).getByLabel('To')
    expect(await most.inputValue()).toBe('')

    await most.fill('0')
    await page.keyboard.press('Enter')
    await expectQuery(page, { status: 'open', max_price: '0' })
    await most.fill('cheap')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await expectQuery(page, { status: 'open', max_price: '0' })
    await most.fill('0')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor({ state: 'detached' })
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.keyboard.press('Escape')
    expect(await focused(page)).toBe('Filters')
    await page.getByText('Nothing fits these filters.').waitFor()
    await page.getByRole('button', { name: 'Without “Price in MANA: 0 or less”: 2' }).click()
    await expectQuery(page, { status: 'open', max_price: null })
    await page.getByRole('button', { name: 'Results: 2' }).click()

    await expect.poll(() => page.locator('.land-list li').count(), SOON).toBe(2)
    await page.goBack()
    await page.goBack()
    await expectQuery(page, { list: null, status: 'open', max_price: '0' })
    await page.getByRole('button', { name: 'Remove the filter “For sale”' }).click()
    await expectQuery(page, { status: null })
    expect(await focused(page)).toBe('Filters')
  })

  test('are the classes of the legends too, pressed once to keep and once more to stop', async () => {
    const { page } = await explore('/?layer=price')
    const classes = page.locator('.price-legend tbody').getByRole('button')
    await classes.first().click()
    await page.getByRole('button', { name: 'Results: 1' }).waitFor()
    expect(await classes.first().getAttribute('aria-pressed')).toBe('true')
    await expectAccessible(page)
    await classes.first().click()
    await expectQuery(page, { min_price_per_parcel: null, status: 'open' })
    await page.getByRole('radio', { name: 'For sale' }).check()
    await page.getByRole('button', { name: /^Parcels for sale/ }).click()
    await expectQuery(page, { status: null })
  })

  test('keep the part of the map that is free', async () => {
    const { page, photograph } = await explore('/?at=0,0&zoom=60&list=land', { size: 'phone' })
    await expectWorld(page)

    await page.getByRole('button', { name: 'Search this area' }).click()

    await page.getByRole('button', { name: 'Remove the filter “This area”' }).waitFor()
    const { searchParams } = new URL(page.url())
    const [[west = NaN, north = NaN] = [], [east = NaN, south = NaN] = []] = ['nw', 'se'].map((name) =>
      searchParams.get(name)?.split(',').map(Number),
    )
    // The list covers the lower half of the screen, and the filters its upper edge.
    expect([west, east]).toEqual([-3, 3])
    expect(south).toBeGreaterThanOrEqual(0)
    expect(north).toBeLessThan(6)
    await photograph('filters-phone')
  })
})

describe('layers', () => {
  test('what is on sale is counted, and a change shows by itself', async () => {
    const { page } = await explore('/')
    await page.getByText('Parcels for sale: 3').waitFor()
    await page.getByText('Offers: 2.').waitFor()
    const asked = page.waitForResponse(/v2\/feed\?since=/)

    await change({ kind: 'change-estate', id: '1', to: { owner: BOB } })
    await asked
    await search(page, BOB)

    // Estate 2 and now 1 as well
    await page.getByText('Estates: 2').waitFor()
    await change({ kind: 'change-estate', id: '1', to: { owner: ANN } })
    await page.getByText('Estates: 1').waitFor()
  })

  test('a browser that reports no network keeps following the server on its own machine', async () => {
    const { page, asked, problems } = await explore('/?layer=mine')
    const streams = () => asked.filter((address) => address.includes('/v2/changes')).length
    const outdated = page.getByText('The map may be out of date.').filter({ visible: true })
    await search(page, BOB)
    await page.getByText('Estates: 1').waitFor()
    await page.clock.install()

    // The browser says so once, and never that it is back.
    const checked = page.waitForResponse(/v2\/feed\?since=/)
    await page.evaluate(`dispatchEvent(new Event('offline'))`)
    expect((await checked).status()).toBe(200)
    await change({ kind: 'change-estate', id: '1', to: { owner: BOB } })
    await page.getByText('Estates: 2').waitFor()
    expect(await outdated.count()).toBe(0)

    // With a request that fails, the map is out of date until one succeeds; then the stream is opened anew.
    await page.route('**/v2/feed?since=*', (route) => route.fulfill({ status: 503 }))
    await page.evaluate(`dispatchEvent(new Event('offline'))`)
    await outdated.waitFor()
    const before = streams()
    await page.unroute('**/v2/feed?since=*')
    await page.clock.fastForward(10_000)
    await outdated.waitFor({ state: 'detached' })
    await expect.poll(streams, SOON).toBe(before + 1)
    await change({ kind: 'change-estate', id: '1', to: { owner: ANN } })
    await page.getByText('Estates: 1').waitFor()
    forgive(problems, /503/)
  })

  test('prices are those of a parcel, from cheap to dear, each with its number of offers', async () => {
    const { page, photograph } = await explore('/?layer=price')

    const rows = page.getByRole('row')
    await expect.poll(() => rows.count(), SOON).toBe(3)

    // The cheapest offer of the parcel is one of 10⁻¹⁸ MANA.
    expect(await rows.nth(1).innerText()).toMatch(/^0\s+1$/)
    expect(await rows.nth(2).innerText()).toMatch(/^1,500\s+1$/)
    await expectAccessible(page)
    await photograph('explore-prices')
    // Windows high contrast replaces colours, but not those that mean something.
    await page.emulateMedia({ forcedColors: 'active' })
    const seen = await page.evaluate<{ swatches: string[]; own: string[]; layers: string[] }>(`(() => {
      const all = (selector) => [...document.querySelectorAll(selector)]
      const colourOf = (element) => getComputedStyle(element).backgroundColor
      const swatches = all('.price-legend .swatch')
      return {
        swatches: swatches.map(colourOf),
        own: swatches.map(({ style }) => style.backgroundColor),
        layers: all('.layer-choice span').map(colourOf),
      }
    })()`)
    expect(seen.swatches).toEqual(seen.own)
    expect(seen.layers.filter((colour) => colour === seen.layers[1])).toHaveLength(1)
    await photograph('explore-forced-colours')
  })

  test('offers are asked for only while their layer is shown, and again when one of them changes', async () => {
    const { page, asked } = await explore('/')
    await expectWorld(page) // what was asked before is asked again then
    const asksForOffers = () => asked.filter((address) => address.endsWith('/v2/offers')).length
    await page.getByRole('radio', { name: 'Districts' }).check()
    await page.getByText('Districts: 2').waitFor()
    expect(asksForOffers()).toBe(0)

    await page.getByRole('radio', { name: 'By price' }).check()
    await page.getByRole('row').nth(2).waitFor()
    expect(asksForOffers()).toBe(1)
    await change({ kind: 'change-parcel', x: -2, y: 2, to: { owner: ANN } })
    await change({ kind: 'change-parcel', x: 2, y: 0, to: { owner: ANN } })

    await expect.poll(asksForOffers, SOON).toBe(2)
    // Two changes in a row are two readings of what changed, and no reason to read the whole world again.
    expect(asked.filter((address) => address.endsWith('/v2/feed')).length).toBe(1)
  })

  test('what was paid is painted, and leads to sales over time, where a sale shows as it happens', async () => {
    const { page, photograph } = await explore('/?layer=sales&asset_type=parcel&status=open')
    const legend = page.locator('.price-legend tbody').getByRole('row')
    await expect.poll(() => legend.count(), SOON).toBe(2)
    expect(await legend.first().innerText()).toMatch(/^251\s+1$/)
    await page.getByRole('button', { name: 'Sales over time' }).click()

    await expectQuery(page, { list: 'sales', of: null })
    const panel = page.getByRole('region', { name: 'Lists' })
    await panel.getByRole('img', { name: 'Sales over time' }).waitFor()
    await panel.getByText('These filters do not apply to sales: For sale.').waitFor()
    const sales = panel.getByRole('log').getByRole('listitem')
    await expect.poll(() => sales.count(), SOON).toBe(2)
    await panel.getByText('The same as a table').click()
    expect(await panel.getByRole('row').nth(1).innerText()).toMatch(/^Mar 2019\s+2\s/)
    await expectAccessible(page)
    await photograph('explore-sales')

    const sold = { status: 'sold', closed_by: 'event', buyer: BOB, asset_id: '1,1', price: '700' } as const
    const publication = publicationRow('as it happens', { ...sold, block_time_updated_at_ms: JUNE })
    await change({ kind: 'open-publication', publication })

    await expect.poll(() => sales.count(), SOON).toBe(3)
    expect(await sales.first().innerText()).toMatch(/^Parcel 1,1\s+700 MANA/)
    await expect.poll(() => legend.count(), SOON).toBe(3)
    const newest = panel.getByRole('row').nth(1)
    await expect.poll(() => newest.innerText(), SOON).toMatch(/^Jun 2019\s+1\s+700 MANA/)
  })

  test('a district is chosen from the list, and has a panel that leads to its land', async () => {
    const { page } = await explore('/?layer=districts')

    await page.getByRole('button', { name: /^Road/ }).click()

    await expectQuery(page, { layer: 'districts', zoom: '18' })
    await page.getByRole('button', { name: /^Road/, pressed: true }).waitFor()
    const panel = page.getByRole('region', { name: 'Selection' })
    await panel.getByText('Nothing was sold here yet.').waitFor()
    await expectAccessible(page)
    await panel.getByRole('button', { name: 'List the land of this district' }).click()
    await expectQuery(page, { list: 'land', in_district: new URL(page.url()).searchParams.get('district') })
    await page.getByRole('button', { name: /^Remove the filter “Road/ }).waitFor()
    await expect.poll(() => panel.isVisible(), SOON).toBe(false)
    await page.getByRole('button', { name: /^Road/, pressed: true }).click()
    await panel.waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Escape')
    await expectQuery(page, { list: null, district: null })
  })

  test('my land: refused with a reason, counted, and remembered after a reload', async () => {
    const { page } = await explore('/?layer=mine')
    const field = page.getByLabel('Owner’s address')
    await field.fill('0x123')
    await field.press('Enter')
    await page.getByText('This is not an address').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('mine')
    await expectAccessible(page)

    await field.fill(` ${BOB.toUpperCase()} `)
    await field.press('Enter')
    await page.getByText('Estates: 1').waitFor()
    await page.getByText('Parcels in these estates: 3').waitFor()
    await page.goto(`${server.origin}/`)
    await page.getByRole('radio', { name: 'My land' }).check()

    await page.getByRole('button', { name: 'Show all' }).click()
    await expectQuery(page, { mine: BOB, layer: 'mine' })
  })
})

describe('the map', () => {
  test('selects what is clicked: an estate, then its parcel, and nothing where no land is', async () => {
    const opened = await explore('/?at=0,0&zoom=40')
    const { page } = opened
    const pick = async (x: number, y: number) => opened.press(await spotOf(page, { x, y, zoom: 40 }))

    await pick(1, 0)
    await expectQuery(page, { estate: '1', parcel: null, at: '0,0' })
    // Not the same place again: that would be a double click.
    await pick(1, 1)
    await expectQuery(page, { estate: null, parcel: '1,1' })
    await page.getByText('Parcel 1,1 is selected.').waitFor({ state: 'attached' })
    await pick(-6, 0)

    await expectQuery(page, { estate: null, parcel: null })
  })

  test('moves away from the panel: what was pressed stays visible, and takes the focus from a field', async () => {
    const opened = await explore('/?at=0,2&zoom=60', { size: 'phone' })
    const { page } = opened
    const place = { x: -1, y: 0, zoom: 60 }
    await page.getByRole('combobox', { name: 'Search' }).focus()

    await opened.press(await spotOf(page, { ...place, y: place.y - 2 }))

    await expectQuery(page, { parcel: '-1,0' })
    const panel = (await page.getByRole('region', { name: 'Selection' }).boundingBox())!
    const isInSight = async () => {
      const [x = 0, y = 0] = (new URL(page.url()).searchParams.get('at') ?? '').split(',').map(Number)
      const spot = await spotOf(page, { ...place, x: place.x - x, y: place.y - y })
      return spot.y < panel.y
    }
    await expect.poll(isInSight, SOON).toBe(true)
    await page.getByRole('button', { name: 'Close' }).click()
    await expect.poll(() => page.evaluate('document.activeElement.tagName'), SOON).toBe('CANVAS')
  })

  test.each([
    { by: 'from a list', path: '/?list=land&status=open', selected: '1,0' },
    { by: 'by search', path: '/', selected: '2,-2' },
    { by: 'by a link with a place', path: '/?at=2,-2&zoom=64&parcel=2,-2', selected: '2,-2' },
  ])('has what is opened $by in the free part of a phone’s screen', async ({ path, selected }) => {
    const { page } = await explore(path, { size: 'phone' })
    await expectWorld(page)

    if (path === '/') await search(page, selected)
    else if (path.includes('list')) await page.getByRole('button', { name: 'The Tower' }).click()

    const panel = page.getByRole('region', { name: 'Selection' })
    await panel.waitFor()
    const { top, bottom } = await page.evaluate<{ top: number; bottom: number }>(`({
      top: document.querySelector('.search').getBoundingClientRect().bottom,
      bottom: document.querySelector('.tools').getBoundingClientRect().top,
    })`)
    const [wantedX = 0, wantedY = 0] = selected.split(',').map(Number)
    const edges = async () => {
      const [x = NaN, y = NaN, zoom = NaN] = await viewOf(page)
      const middle = await spotOf(page, { x: wantedX - x, y: wantedY - y, zoom })
      return middle.y - zoom / 2 >= top && middle.y + zoom / 2 <= bottom
    }
    await expect.poll(edges, SOON).toBe(true)
    expect(bottom).toBeLessThan((await panel.boundingBox())!.y)
  })

  test('shares a phone’s screen with a sheet of three heights: dragged, pressed, or moved by keys', async () => {
    const opened = await explore('/?estate=1&at=0,0&zoom=40', { size: 'phone', theme: 'dark' })
    const { page, photograph } = opened
    await expectWorld(page)
    const handle = page.getByRole('button', { name: /^Height of the panel/ })
    const sheetTop = async () => (await page.locator('.side').boundingBox())!.y
    const atHeight = (name: string) =>
      page.getByRole('button', { name: `Height of the panel: ${name}` }).waitFor()
    const dragTo = async (y: number) => {
      const { x, y: from, width, height } = (await handle.boundingBox())!
      await opened.drag({ x: x + width / 2, y: from + height / 2 }, { x: x + width / 2, y })
    }
    const isHidden = () => page.getByRole('button', { name: 'Filters' }).isHidden()

    await dragTo(760)
    await atHeight('low')
    expect(await sheetTop()).toBeGreaterThan(700)
    await expectAccessible(page)
    await photograph('sheet-low-phone-dark')
    await handle.press('ArrowUp')
    await atHeight('half')
    // The estate stays where the sheet does not cover it.
    const middleOfEstate = async () => {
      const [x = NaN, y = NaN, zoom = NaN] = await viewOf(page)
      return (await spotOf(page, { x: 1 - x, y: 0.5 - y, zoom })).y
    }
    await expect.poll(async () => (await middleOfEstate()) < (await sheetTop()), SOON).toBe(true)
    await handle.press('Enter')
    await atHeight('full')
    expect(await isHidden()).toBe(true)
    await expectAccessible(page)
    await dragTo(500)
    await atHeight('half')

    await page.getByRole('button', { name: 'Lists' }).click()
    await page.getByRole('button', { name: 'The Tower' }).waitFor()
    await dragTo(100)
    await atHeight('full')
    await photograph('sheet-full-phone-dark')
    await page.getByRole('button', { name: 'The Tower' }).click()
    await atHeight('half') // so that the map shows what was chosen
    expect(await isHidden()).toBe(false)
  })

  test('writes a name whole that reaches over the coordinates on the edge', async () => {
    const { page, photograph } = await explore('/?at=2.1,0&zoom=40&layer=none', { size: 'phone' })
    await expectWorld(page)

    // Right of the coordinates, which have one digit here, and within the strip, which made everything under it pale.
    const darkPixels = () =>
      page.evaluate<number>(`(() => {
        const canvas = document.querySelector('.map-letters')
        const { data } = canvas.getContext('2d').getImageData(24, 0, 8, canvas.height - 20)
        return data.filter((red, i) => i % 4 === 0 && data[i + 3] === 255 && red < 90).length
      })()`)
    await expect.poll(darkPixels, SOON).toBeGreaterThan(10)
    await photograph('explore-name-on-edge')
  })

  test('has a card for what the mouse or the arrow keys rest on, and none for what is selected', async () => {
    const { page, photograph } = await explore('/?at=0,0&zoom=40')
    const card = page.locator('.place-card')
    const tower = await spotOf(page, { x: 1, y: 0, zoom: 40 })

    await page.mouse.move(tower.x, tower.y)

    await card.getByText('The Tower').waitFor()
    await expect
      .poll(() => card.innerText(), SOON)
      .toMatch(/3,000 MANA[\s\S]*For sale until[\s\S]*Estate 1 · Parcels: 2 · 1,500 MANA per parcel/)
    await expectAccessible(page)
    await photograph('card-desktop')
    await page.mouse.click(tower.x, tower.y)
    await page.mouse.move(tower.x + 1, tower.y)
    await expectQuery(page, { estate: '1' })
    await page.keyboard.press('ArrowLeft') // the cursor is at the chosen parcel
    await page.keyboard.press('ArrowLeft')
    await page.getByRole('status').filter({ hasText: 'Parcel 0,0' }).and(card).waitFor()
    await page.mouse.move(tower.x, 10)
    await page.getByRole('combobox', { name: 'Search' }).focus()
    await expect.poll(() => card.count(), SOON).toBe(0)
  })

  test('is explored with arrow keys, and says what is there', async () => {
    const { page } = await explore('/?at=0,0&zoom=40')
    await expectWorld(page)
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the map')
    await page.keyboard.press('Enter')

    for (const key of ['ArrowUp', 'ArrowRight', 'ArrowDown']) await page.keyboard.press(key)

    await page.getByText('1,-1, Parcel').waitFor({ state: 'attached' })
    await page.keyboard.press('ArrowUp')
    await page.getByText('1,0, Estate #1, For sale').waitFor({ state: 'attached' })
    await page.keyboard.press('Enter')
    await expectQuery(page, { estate: '1' })
    await expect.poll(() => page.title(), SOON).toBe('The Tower · Landpass')
    await page.keyboard.press('F6')
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Selection')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Escape')
    await expectQuery(page, { estate: null })
    await expect.poll(() => page.evaluate('document.activeElement.tagName'), SOON).toBe('CANVAS')
    expect(await page.title()).toBe('Map · Landpass')
  })
})

test('a name from right to left does not turn the text around it', async () => {
  const { page } = await explore('/?parcel=-1,0')

  await expect.poll(() => page.title(), SOON).toBe(`\u2068${HEBREW_NAME}\u2069 · Landpass`)
  await page.getByRole('combobox').and(page.locator('input')).fill(HEBREW_NAME)
  const found = page.getByRole('listbox').getByRole('option')
  await found.waitFor()
  const shown = page.locator('h2').or(found.locator('.search-name')).filter({ hasText: HEBREW_NAME })
  expect(await shown.count()).toBe(2)
  expect(await shown.and(page.locator('bdi, [dir=auto]')).count()).toBe(2)
  expect(await shown.allInnerTexts()).toEqual([HEBREW_NAME, HEBREW_NAME])
})

describe('on the first visit', () => {
  test('one line says what this is, until it is closed', async () => {
    const { page, photograph } = await explore('/', { size: 'phone', theme: 'dark', locale: 'ko-KR' })
    const line = page.getByText('지도입니다')
    await line.waitFor()
    await expectAccessible(page)
    await photograph('welcome-phone-dark')

    await page.getByRole('button', { name: '확인' }).click()

    expect(await line.count()).toBe(0)
    await page.reload()
    await page.getByRole('combobox').first().waitFor()
    expect(await line.count()).toBe(0)
  })
})

test('another website shows the map in a frame, which leads to the same place on the whole page', async () => {
  const { page, photograph } = await openPage(`${server.origin}/robots.txt`, { size: 'desktop' })
  const website = `${server.origin}/of-another-website`
  const frame = `<iframe src="/embed?at=0,0&amp;zoom=40" title="Map" width="640" height="400"></iframe>`
  await page.route(website, (route) => route.fulfill({ contentType: 'text/html', body: frame }))
  await page.goto(website)
  const map = page.frameLocator('iframe')
  const link = map.getByRole('link', { name: 'Open the whole map' })
  await link.waitFor()
  await map.locator('.map-surface[data-picture=sharp]').waitFor()
  const steps = await page.evaluate<number>('history.length')

  await map
    .locator('canvas')
    .first()
    .click({ position: { x: 320 + 40, y: 200 + 40 } })

  await map.getByRole('region', { name: 'Selection' }).waitFor()
  await expect
    .poll(async () => new URL((await link.getAttribute('href'))!).searchParams.get('parcel'), SOON)
    .toBe('1,-1')
  expect(new URL((await link.getAttribute('href'))!).pathname).toBe('/')
  expect(await page.evaluate('history.length')).toBe(steps)
  expect(await map.getByRole('combobox').count()).toBe(0)
  await photograph('embed-desktop')
})

test('a watched search tells what is new, while the page is open and since the last visit', async () => {
  const opened = await explore(`/?owner=${ANN}&list=land`, { size: 'phone', locale: 'es-ES' })
  const { page, photograph } = opened
  let readings = 0
  page.on('response', (answer) => {
    if (answer.url().includes('limit=100')) readings++
  })
  const places = [
    { x: 1, y: -2 },
    { x: 2, y: -2 },
  ] as const
  const [first, second] = await Promise.all(
    places.map(({ x, y }) => server.data<{ owner: string }>(`/v1/parcels/${x}/${y}`)),
  )
  const give = (at: (typeof places)[number], owner: string) =>
    change({ kind: 'change-parcel', ...at, to: { owner } })
  await page.context().grantPermissions(['notifications'])
  await page.evaluate(`(() => {
    window.shown = []
    window.Notification = class extends Notification {
      constructor(title, options) {
        super(title, options)
        shown.push(title + ': ' + options.body)
      }
    }
  })()`)

  await page.getByRole('button', { name: 'Vigilar esta búsqueda' }).click()
  await page.getByRole('button', { name: 'Dejar de vigilar', pressed: true }).waitFor()
  await page.getByText('Este navegador lo vigila.').waitFor()
  await page.getByRole('button', { name: 'Búsquedas vigiladas' }).click()
  await page.getByRole('button', { name: 'Avisarme mientras esta página esté abierta' }).click()
  await page.getByRole('button', { name: 'Desactivar los avisos' }).waitFor()
  // Read when it began, and again when its stream had begun: from here on the stream tells what changes.
  await expect.poll(() => readings, SOON).toBeGreaterThanOrEqual(2)
  await page.getByText('Nada nuevo.').waitFor()
  await give(places[0], ANN)

  const news = page.getByRole('button', { name: 'Nuevos: 1' })
  await news.waitFor()
  await expect.poll(() => page.evaluate('shown'), SOON).toEqual(['Nuevos: 1: Parcela 1,-2'])
  await expectAccessible(page)
  await photograph('watched-phone-light')
  await page.getByRole('button', { name: 'Marcar como visto' }).click()
  await expect.poll(() => news.count(), SOON).toBe(0)

  await page.goto(`${server.origin}/robots.txt`)
  await give(places[1], ANN)
  await page.goto(`${server.origin}/`)
  await news.click()
  await page
    .getByRole('region', { name: /^Propietario/ })
    .getByRole('button', { name: /2,-2/ })
    .waitFor()
  await page.getByRole('button', { name: 'Dejar de vigilar' }).click()
  await expect.poll(() => news.count(), SOON).toBe(0)
  await expectQuery(page, { list: 'watched' })

  await search(page, '#1')
  await page.getByRole('button', { name: 'Vigilar este terreno' }).click()
  await page.getByRole('button', { name: 'Búsquedas vigiladas' }).click()
  const watched = page.getByRole('region', { name: 'Tower' })
  await watched.getByRole('button', { name: 'Mostrar este terreno' }).click()
  await page.getByRole('heading', { name: 'The Tower', level: 2 }).waitFor()
  await give(places[0], first!.owner)
  await give(places[1], second!.owner)
})

describe('the keyboard alone', () => {
  test('leads from the first key to a selected parcel, and back again', async () => {
    const { page } = await explore('/')

    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the search')
    await page.keyboard.press('Enter')
    await page.keyboard.type('-1,0')
    await page.keyboard.press('Enter')

    const panel = page.getByRole('region', { name: 'Selection' })
    await panel.waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.ariaLabel'), SOON).toBe('Selection')
    await page.getByText('Parcel -1,0 is selected.').waitFor({ state: 'attached' })
    await page.keyboard.press('Escape')
    await expect.poll(() => panel.count(), SOON).toBe(0)
    await expect.poll(() => page.evaluate('document.activeElement.id'), SOON).toBe('search')
  })

  test('Escape closes the newest first', async () => {
    const { page } = await explore('/?parcel=1,-1')
    await page.getByRole('button', { name: 'Lists' }).click()
    await expectQuery(page, { list: 'land', parcel: '1,-1' })

    await page.keyboard.press('Escape')
    await expectQuery(page, { list: null, parcel: '1,-1' })
    await expect.poll(() => focused(page), SOON).toBe('Lists')
    await page.keyboard.press('Escape')

    await expectQuery(page, { list: null, parcel: null })
  })
})

describe('languages', () => {
  test.each([
    ['en-GB', 'For sale'],
    ['es-MX', 'En venta'],
    ['fr-CA', 'À vendre'],
    ['ko-KR', '판매 중'],
    ['zh-CN', '在售'],
    ['pt-BR', 'For sale'],
  ])('a browser in %s shows "%s"', async (locale, onSale) => {
    const { page } = await explore('/', { locale })

    expect(await page.getByRole('radio', { name: onSale }).isChecked()).toBe(true)
    expect(await page.locator('html').getAttribute('lang')).toBe(
      locale === 'pt-BR' ? 'en' : locale.slice(0, 2),
    )
  })

  test('one that was chosen is remembered', async () => {
    const { page, problems } = await explore('/')
    await page.route('**/translations/fr', (route) => route.abort())
    await page.getByLabel('Language').selectOption('fr')
    await page.getByText('The server does not answer; please try again').waitFor()
    expect(await page.getByLabel('Language').inputValue()).toBe('en')
    forgive(problems, /ERR_FAILED/)

    await page.getByLabel('Language').selectOption('zh')
    await page.getByRole('radio', { name: '在售' }).waitFor()
    await page.goto(`${server.origin}/`)

    await page.getByRole('radio', { name: '在售' }).waitFor()
  })
})

test.each(['phone', 'desktop'] as const)('everybody can use it on a %s, in both themes', async (size) => {
  const { page, photograph } = await explore('/?parcel=1,-1&layer=price', { size })
  if (size === 'phone') await page.getByRole('button', { name: 'Layer: By price' }).click()
  await page.getByRole('row').nth(2).waitFor()

  // The place that a link selects is looked at, also where the link says no view.
  await expect.poll(async () => (await viewOf(page))[2], SOON).toBe(18)
  const search = (await page.getByRole('combobox').and(page.locator('input')).boundingBox())!
  const layer = (await page.getByRole('radio').first().boundingBox())!
  expect(layer.y).toBeGreaterThan(search.y + search.height)
  for (const theme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: theme })
    await expectAccessible(page, theme === 'light' ? undefined : COLOUR_RULES)
    await photograph(`explore-${size}-${theme}`)
  }
})

test('letters of twice the size leave everything within reach', async () => {
  const { page } = await explore('/?parcel=1,-1', { locale: 'fr' })
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })

    await page.evaluate("document.documentElement.style.fontSize = '200%'")

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    const close = (await page.getByRole('button', { name: 'Fermer' }).boundingBox())!
    expect(close.x + close.width).toBeLessThanOrEqual(width)
    const search = page.getByRole('combobox').and(page.locator('input'))
    expect((await search.boundingBox())!.width).toBeGreaterThan(300)
  }
})

test('nothing needs scrolling sideways, from the smallest phone to the widest screen', async () => {
  const { page } = await explore('/?parcel=1,-1&list=land&status=open&max_road=9', { locale: 'fr' })
  const sizes = [
    [360, 640],
    [640, 360],
    [390, 844],
    [768, 1024],
    [1280, 800],
    [2560, 1440],
  ] as const
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height })

    const { scrollWidth, clientWidth } = await page.evaluate<{ scrollWidth: number; clientWidth: number }>(
      '({ scrollWidth: document.documentElement.scrollWidth, clientWidth: document.documentElement.clientWidth })',
    )
    expect(scrollWidth, `${width} × ${height}`).toBeLessThanOrEqual(clientWidth)
    for (const name of ['Listes', 'Partager']) {
      const box = await page.getByRole('button', { name }).boundingBox()
      expect(box!.x + box!.width, `${name} at ${width} × ${height}`).toBeLessThanOrEqual(width)
    }
  }
})

describe('a server without a world', () => {
  const openEmpty = freshEngine('postgres')

  test('says so and what to do, and the page goes on when there is one', async () => {
    const engine = await openEmpty()
    const empty = await startLandServer(engine, clock, { WORLD: '-2,-2,2,2' })
    const { page, problems, photograph } = await openPage(`${empty.origin}/`, { size: 'desktop' })
    await page.getByText('holds no world yet').waitFor()
    await expectAccessible(page)
    await photograph('explore-empty')
    // From here on there are no events: the page polls.
    await page.route('**/v2/changes*', (route) => route.fulfill({ status: 503 }))
    await page.clock.install()
    await page.reload()
    await page.getByText('holds no world yet').waitFor()

    await importSnapshot(engine.db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    await empty.app.keeper.refresh()
    await page.clock.fastForward(10_000)

    await page.getByText('Parcels for sale: 1').waitFor()
    await applyLandChanges(
      engine.db,
      [{ kind: 'change-parcel', x: 1, y: -1, to: { owner: BOB } }],
      clock.nowMs(),
    )
    await empty.app.keeper.refresh()
    const asked = page.waitForResponse(/v2\/feed\?since=/)
    await page.clock.fastForward(10_000)
    expect((await asked).status()).toBe(200)
    expect(await page.getByText('the map may be out of date').count()).toBe(0)
    await page.close()
    forgive(problems, /503/)
    await empty.close()
  })
})

// The last one: it closes the server.
test('with the server gone the page opens all the same, and says that it may be out of date', async () => {
  const { page, problems, photograph } = await explore('/?parcel=1,-1', { keepsPages: true, locale: 'es' })
  await page.evaluate('navigator.serviceWorker.ready')
  await expect
    .poll(() => page.evaluate(KEPT), SOON)
    .toEqual(expect.arrayContaining(['/', '/v2/feed', '/translations/es']))
  const cached = await page.evaluate<string[]>(KEPT)
  expect(cached.filter((path) => path.startsWith('/pages/'))).not.toEqual([])
  expect(cached.filter((path) => /robots|not-found/.test(path))).toEqual([])

  await server.close()
  await page.reload()

  await page.getByText('El servidor no responde; el mapa').filter({ visible: true }).waitFor()
  await page.getByText('Parcelas en venta: 3').waitFor()
  await expectAccessible(page)
  await photograph('explore-offline')
  await page.close()
  forgive(problems, /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET/)
})

/** The addresses that the worker keeps. */
const KEPT = `(async () => {
  const names = await caches.keys()
  const kept = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
  return kept.flat().map(({ url }) => new URL(url).pathname)
})()`

/** The tiny world, with an estate on sale: 3000 for its two parcels. */
function explorersLand() {
  const records = tinyRecords()
  const [sale] = records.publications
  Object.assign(records.estates[0]!.data, { name: 'The Tower' })
  Object.assign(records.estates[1]!.data, { name: 'Estate of Bob' })
  Object.assign(records.parcels.find(({ x, y }) => x === -1 && y === 0)!.data, { name: HEBREW_NAME + TURNS })
  records.publications.push({
    ...sale!,
    tx_hash: hash(77),
    contract_id: hash(78),
    asset_type: 'estate',
    asset_id: '1',
    owner: ANN,
    price: 3000,
  })
  // As the import wants them: in order of creation
  records.publications.sort((a, b) => a.block_time_created_at - b.block_time_created_at)
  return records
}

async function explore(path: string, options: Partial<OpenOptions> = {}): Promise<OpenedPage> {
  const opened = await openPage(server.origin + path, { size: 'desktop', ...options })
  await opened.page.getByRole('combobox').first().waitFor()
  return opened
}

/** Until the world is there: before, there is nothing to pick. */
async function expectWorld(page: Page): Promise<void> {
  await page.getByText(/^As of/).waitFor({ state: 'attached' })
}

/** Where a parcel is on the screen while the middle of the map is 0,0. */
async function spotOf(page: Page, { x, y, zoom }: { x: number; y: number; zoom: number }) {
  await expectWorld(page)
  await page.locator('.map-surface[data-picture=sharp]').waitFor() // before, the map may not know its size
  const map = (await page.locator('.map-surface').boundingBox())!
  return { x: map.x + map.width / 2 + x * zoom, y: map.y + map.height / 2 - y * zoom }
}

/** What the canvas shows: x, y, zoom; nothing before it shows something. */
async function viewOf(page: Page): Promise<number[]> {
  const said = await page.locator('.map-surface').getAttribute('data-view')
  return said === null ? [] : said.split(',').map(Number)
}

/** Types into the search box and takes the first result. */
async function search(page: Page, typed: string): Promise<void> {
  const box = page.getByRole('combobox').and(page.locator('input'))
  await box.fill(typed)
  await box.press('Enter')
}

/** Waits until the address says that; null for what it must not say. */
async function expectQuery(
  page: Page,
  wanted: Readonly<Record<string, string | null | undefined>>,
  what = 'the address',
): Promise<void> {
  const said = () => {
    const { searchParams } = new URL(page.url())
    return Object.fromEntries(Object.keys(wanted).map((name) => [name, searchParams.get(name)]))
  }
  await expect.poll(said, { ...SOON, message: what }).toEqual(wanted)
}

async function focused(page: Page): Promise<string> {
  return page.evaluate<string>('document.activeElement.innerText')
}

/** Takes out what a test has provoked. */
function forgive(problems: string[], provoked: RegExp): void {
  problems.splice(0, problems.length, ...problems.filter((problem) => !provoked.test(problem)))
}
