import type { Engine } from '@landpass/server/db/engine'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { startTinyLand } from '@landpass/server/test/support/land/tiny-land'
import { expectAccessible } from '@landpass/server/test/support/pages/axe'
import { SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const openEngine = freshEngine('postgres')
const openPage = testBrowser()
let engine: Engine
let server: LandServer

beforeAll(async () => {
  engine = await openEngine()
  ;({ server } = await startTinyLand(engine, testClock()))
})
afterAll(() => server.close())

/** Wide tables that do not show all columns. */
const CUT_OFF = `[...document.querySelectorAll('.wide')].filter((one) => one.scrollWidth > one.clientWidth).length`

test.each([
  { size: 'phone', theme: 'light' },
  { size: 'desktop', theme: 'dark' },
] as const)('documents and calls can be read by everybody: $size, $theme', async ({ size, theme }) => {
  const { page, photograph } = await openPage(`${server.origin}/docs/`, { size, theme })
  for (const path of [
    '/docs/',
    '/docs/sales',
    '/docs/settings',
    '/docs/interface',
    '/docs/interface/parcels',
    '/docs/help/players.ko',
  ]) {
    await page.goto(server.origin + path)
    const [wide, wanted] = await page.evaluate<number[]>('[innerWidth, document.documentElement.scrollWidth]')
    expect(wanted, path).toBeLessThanOrEqual(wide!)
    expect(await page.evaluate(CUT_OFF), path).toBe(0)
    await expectAccessible(page)
    if (path === '/docs/sales') {
      const text = (await page.locator('main').textContent())!
      expect(text).toContain(`curl -s '${server.origin}/v2/sales?`)
      expect(text).not.toContain('localhost:3000')
    }
    await photograph(`help${path.replaceAll('/', '-')}-${size}-${theme}`)
  }
})

describe('a reader', () => {
  test('searches for a word, opens the best answer, and goes back to the map', async () => {
    const { page, asked } = await openPage(`${server.origin}/docs?from=elsewhere`, { size: 'desktop' })
    await page.getByRole('searchbox').fill('median')
    await page.getByRole('list', { name: 'Found' }).getByRole('link').first().click()
    await page.waitForURL(/\/docs\/sales/)
    const text = await page.locator('main').textContent()
    expect(text, 'the address of the server that the reader uses').toContain(`${server.origin}/v2/`)
    expect(text).not.toContain('localhost')
    await page.getByRole('combobox', { name: 'Theme' }).selectOption('Dark')
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark')
    await page.getByRole('link', { name: 'Map', exact: true }).click()
    await page.waitForURL(`${server.origin}/`)

    expect(new Set(asked.map((address) => new URL(address).origin))).toEqual(new Set([server.origin]))
  })

  test('searches in the language of the page', async () => {
    const { page } = await openPage(`${server.origin}/docs/`, { size: 'phone' })
    for (const [language, words] of [
      ['fr', 'code de modif'],
      ['ko', '수정 코드'],
      ['zh', '编辑码'],
    ]) {
      await page.goto(`${server.origin}/docs/help/players.${language}`)
      await page.getByRole('searchbox').fill(words!)
      const found = page.locator('.help-found a')
      await found.first().waitFor()
      for (const link of await found.all())
        expect(await link.getAttribute('href')).toMatch(new RegExp(`organisers\\.${language}(?:#|$)`))
    }
    await page.getByRole('searchbox').fill('zzzz')
    await page.getByText('没有结果').waitFor()
  })

  test('tries a call, and reads what the server answers', async () => {
    const { page, problems } = await openPage(`${server.origin}/docs/interface/parcels#parcel`, {
      size: 'desktop',
    })
    const call = page.getByRole('region', { name: 'GET /parcels/{x}/{y}', exact: true })
    const top = () => page.evaluate<number>("document.querySelector('#parcel').getBoundingClientRect().top")
    await expect.poll(async () => Math.abs(await top()), SOON).toBeLessThan(5)
    await call.getByLabel('x', { exact: true }).fill('1')
    await call.getByLabel('y', { exact: true }).fill('-1')
    await call.getByRole('button', { name: 'Try it' }).click()
    await call.getByText('GET /parcels/1/-1 → 200').waitFor()
    expect(JSON.parse((await call.locator('pre').textContent())!)).toMatchObject({
      ok: true,
      data: { x: 1, y: -1 },
    })

    await call.getByLabel('x', { exact: true }).fill('999')
    await call.getByRole('button', { name: 'Try it' }).click()
    await call.locator('pre', { hasText: 'invalid_parameter' }).waitFor()
    expect(problems.splice(0)).toHaveLength(2)
  })
})
