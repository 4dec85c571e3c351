import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LOCALES } from '../../src/site/translations.ts'
import { expectAccessible } from '../support/axe.ts'
import { testBrowser } from '../support/browser.ts'
import { freshEngine } from '../support/engines.ts'
import { type LandServer, testClock } from '../support/land-server.ts'
import { startTinyLand } from '../support/tiny-land.ts'

/** Every page in every language, theme and size: what axe says of it, and a photograph for those who look. */

/** While the offers of the tiny world are open. */
const JUNE = Date.parse('2019-06-01T12:00:00.000Z')
const PAGES = {
  map: { path: '/?zoom=40&at=0,0', shown: 'canvas' },
  parcel: { path: '/?parcel=1,-1&layer=price', shown: 'aside, [role=complementary], .asset-panel' },
  list: { path: '/?list=on_sale&sort=price.asc', shown: 'tbody tr' },
  organise: { path: '/organise', shown: 'form' },
} as const

const openEngine = freshEngine('embedded')
const openPage = testBrowser()
const clock = testClock(JUNE)
let server: LandServer

beforeAll(async () => {
  ;({ server } = await startTinyLand(await openEngine(), clock))
})
afterAll(() => server.close())

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
  test.each(LOCALES)('every page can be read by everybody: %s', async (locale) => {
    const { page, photograph } = await openPage(`${server.origin}/`, { size: 'desktop', locale, theme })

    for (const [name, { path, shown }] of Object.entries(PAGES)) {
      await page.goto(server.origin + path)
      await page.locator(shown).first().waitFor()

      expect(await page.locator('html').getAttribute('lang')).toBe(locale)
      await expectAccessible(page)
      await photograph(`${name}-desktop-${theme}-${locale}`)
    }
  })

  test('every page fits a phone', async () => {
    const { page, photograph } = await openPage(`${server.origin}/`, { size: 'phone', theme })

    for (const [name, { path, shown }] of Object.entries(PAGES)) {
      await page.goto(server.origin + path)
      await page.locator(shown).first().waitFor()

      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
      await expectAccessible(page)
      await photograph(`${name}-phone-${theme}`)
    }
  })
})
