import { LOCALES } from '@landpass/server/site/translations'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { OFFERS_POAP, startTinyLand } from '@landpass/server/test/support/land/tiny-land'
import { COLOUR_RULES, expectAccessible } from '@landpass/server/test/support/pages/axe'
import {
  type OpenedPage,
  type OpenOptions,
  SIZES,
  SOON,
  testBrowser,
} from '@landpass/server/test/support/pages/browser'
import { afterAll, beforeAll, expect, test } from 'vitest'

/**
 * Every page in every language and theme, on a desktop and a phone: what axe says of it in one language, the language that
 * it is in and whether it fits the screen in all of them, and a screenshot to look at.
 */

/** While the offers of the tiny world are open. */
const JUNE = Date.parse('2019-06-01T12:00:00.000Z')
const PAGES: Readonly<Record<string, LookedAt>> = {
  map: { path: '/?zoom=40&at=0,0', shown: '.map-surface' },
  parcel: { path: '/?parcel=1,-1&layer=sales', shown: 'aside, [role=complementary], .asset-panel' },
  list: { path: '/?list=land&sort=price.asc&status=open&max_size=99', shown: '.land-list li' },
  sales: { path: '/?list=sales&layer=price', shown: '.price-chart' },
  organise: { path: '/organise', shown: 'form' },
  'not-found': {
    path: '/nothing/here',
    shown: 'nav',
    problems: [/^404: .*\/nothing\/here$/, /^console: .* 404 /],
  },
}

interface LookedAt {
  readonly path: string
  /** Visible once the page is complete. */
  readonly shown: string
  /** What the browser reports of it, in alphabetical order. */
  readonly problems?: readonly RegExp[]
}

const openEngine = freshEngine('postgres')
const openPage = testBrowser()
const clock = testClock(JUNE)
let server: LandServer

beforeAll(async () => {
  ;({ server } = await startTinyLand(await openEngine(), clock, { env: OFFERS_POAP }))
})
afterAll(() => server.close())

test.each(['desktop', 'phone'] as const)(
  'every page is accessible and fits a %s, in both themes',
  async (size) => {
    await visitAll({ size, locale: 'en' }, async ({ page, photograph }, name) => {
      for (const theme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme: theme })
        await expectAccessible(page, theme === 'light' ? undefined : COLOUR_RULES)
        await showBusy(page)
        await expectAccessible(page, ['color-contrast'])
        await showBusy(page, false)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(SIZES[size].width)
        await photograph(`${name}-${size}-${theme}`)
      }
    })
  },
)

// Labels of other lengths and other letters: what they change is the layout.
test.each(LOCALES.filter((locale) => locale !== 'en'))(
  'every page is in its language and fits: %s',
  async (locale) => {
    await visitAll({ size: 'phone', locale }, async ({ page, photograph }, name) => {
      for (const size of ['phone', 'desktop'] as const) {
        await page.setViewportSize(SIZES[size])
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(SIZES[size].width)
        await photograph(`${name}-${size}-${locale}`)
      }
      expect(await page.locator('html').getAttribute('lang')).toBe(locale)
    })
  },
)

/** Makes each part of the page look as while its newer state is on its way, or at rest again. */
async function showBusy(page: OpenedPage['page'], isBusy = true): Promise<void> {
  await page.evaluate(
    `for (const part of document.querySelectorAll('[aria-busy]')) part.setAttribute('aria-busy', '${isBusy}')`,
  )
}

async function visitAll(
  options: OpenOptions,
  look: (opened: OpenedPage, name: string) => Promise<void>,
): Promise<void> {
  const opened = await openPage(`${server.origin}/`, options)
  for (const [name, { path, shown, problems = [] }] of Object.entries(PAGES)) {
    await opened.page.goto(server.origin + path)
    await opened.page.locator(shown).first().waitFor()
    // In English until the texts of the language come
    await expect.poll(() => opened.page.locator('html').getAttribute('lang'), SOON).toBe(options.locale)
    await look(opened, name)
    const expected = problems.map((problem) => expect.stringMatching(problem))
    await expect.poll(() => opened.problems.toSorted(), SOON).toEqual(expected)
    opened.problems.length = 0
  }
}
