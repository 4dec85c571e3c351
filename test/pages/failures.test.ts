import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type LandServer, testClock } from '@landpass/server/test/support/http/land-server'
import { OFFERS_POAP, startTinyLand } from '@landpass/server/test/support/land/tiny-land'
import { expectAccessible } from '@landpass/server/test/support/pages/axe'
import { type OpenedPage, type Size, SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** The pages in a real browser, while what they load is answered with a failure, or by somebody else. */

const PORTAL = '<!doctype html><title>Sign in</title><p>Welcome to the guest network</p>'

interface Failure {
  readonly name: string
  readonly reason: RegExp
  answer(route: Route): Promise<void>
}

const FAILURES: readonly Failure[] = [
  {
    name: 'too-many-requests',
    reason: /Too many requests came from you or from your network; please wait 40 seconds/,
    answer: (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '40' },
        json: { ok: false, error: 'Slow down.', code: 'too_many_requests', data: { retry_after_s: 40 } },
      }),
  },
  {
    name: 'proxy-failed',
    reason: /The server failed \(status 502\)/,
    answer: (route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }),
  },
  {
    name: 'server-failed',
    reason: /Something went wrong on our side/,
    answer: (route) =>
      route.fulfill({ status: 500, json: { ok: false, error: 'Oh.', code: 'internal_error', data: {} } }),
  },
  {
    name: 'database-away',
    reason: /The database did not answer in time\. Nothing was lost/,
    answer: (route) =>
      route.fulfill({
        status: 503,
        headers: { 'retry-after': '5' },
        json: { ok: false, error: 'Away.', code: 'database_unavailable', data: { retry_after_s: 5 } },
      }),
  },
  {
    name: 'captive-portal',
    reason: /Something else than this server answered, perhaps the sign-in page of your network/,
    answer: (route) => route.fulfill({ status: 200, contentType: 'text/html', body: PORTAL }),
  },
  {
    name: 'redirect',
    reason: /Something else than this server answered/,
    answer: (route) => route.fulfill({ status: 302, headers: { location: '/robots.txt' } }),
  },
  {
    name: 'no-data',
    reason: /Something else than this server answered/,
    answer: (route) => route.fulfill({ status: 200, json: { ok: true, data: null } }),
  },
  {
    name: 'no-connection',
    reason: /The server does not answer/,
    answer: (route) => route.abort('connectionreset'),
  },
]

/** One of each kind, for what shows failures in the same way. */
const KINDS = ['too-many-requests', 'proxy-failed', 'captive-portal', 'no-data']
const ONE_OF_EACH = FAILURES.filter(({ name }) => KINDS.includes(name))

/** Longer than any pause before a repeated request, with what the server asks for. */
const PAUSE_MS = 80_000

const openEngine = freshEngine('postgres')
const openPage = testBrowser()
let server: LandServer

beforeAll(async () => {
  ;({ server } = await startTinyLand(await openEngine(), testClock(), { env: OFFERS_POAP }))
})
afterAll(() => server.close())

/** A page whose requests to some addresses are answered as the test wants; undefined: by the server. */
interface Watched extends OpenedPage {
  answer: Failure['answer'] | undefined
}

async function openEmpty(pattern: RegExp, size: Size = 'desktop'): Promise<Watched> {
  const opened = await openPage('about:blank', { size })
  const watched: Watched = { ...opened, answer: undefined }
  await opened.page.clock.install()
  await opened.page.route(pattern, (route) => watched.answer?.(route) ?? route.continue())
  return watched
}

/** Failures that the test causes, which the browser writes on its console. */
function forgive({ problems }: OpenedPage): void {
  const caused =
    /404: \S+\/90001|429|500|502|503|ERR_FAILED|ERR_CONNECTION_RESET|ERR_HTTP_RESPONSE_CODE_FAILURE|console: Failed to load resource/
  problems.splice(0, problems.length, ...problems.filter((problem) => !caused.test(problem)))
}

/** A text is missing where its key is shown. */
async function expectWords(page: Page): Promise<void> {
  expect(await page.locator('body').innerText()).not.toMatch(/\b(?:common|map|nav|organise|error|list)\.\w/)
}

describe('the texts of the page’s language', () => {
  test('English ones need no request', async () => {
    const opened = await openPage(`${server.origin}/organise`, { size: 'desktop' })
    await opened.page.getByRole('heading', { name: 'Which event is it?' }).waitFor()

    expect(opened.asked.filter((address) => address.includes('/translations/'))).toEqual([])
  })

  test.each([
    ['phone', '/organise'],
    ['desktop', '/'],
  ] as const)('on a %s, %s works in English until they come, and says why', async (size, path) => {
    const opened = await openEmpty(/\/translations\/fr$/, size)
    const { page } = opened
    const notice = page.locator('.language-notice')
    const field = page.locator('main input').first()
    for (const { name, answer, reason } of size === 'phone' ? FAILURES : ONE_OF_EACH) {
      opened.answer = answer
      await page.goto(`${server.origin}${path}?lang=fr`)

      await notice.getByText('This page is in English until its texts in Français can be loaded.').waitFor()
      expect(await notice.innerText(), name).toMatch(reason)
      await expectWords(page)
      expect(await page.locator('html').getAttribute('lang')).toBe('en')
      await opened.photograph(`texts-${name}-${size}`)
    }
    await expectAccessible(page)

    // It tries again by itself, and keeps what was typed.
    await field.fill('abc')
    const asked = page.waitForRequest(/\/translations\/fr$/)
    await page.clock.fastForward(PAUSE_MS)
    await asked
    await notice.getByText('This page keeps trying.').waitFor()
    opened.answer = undefined
    await page.clock.fastForward(PAUSE_MS)
    await page.getByRole('link', { name: 'Carte' }).waitFor()
    await notice.getByText('Français').waitFor({ state: 'detached' })
    expect([await field.inputValue(), await page.locator('html').getAttribute('lang')]).toEqual(['abc', 'fr'])
    forgive(opened)
  })

  test('the reader’s button tries at once; a reader who chooses another language is left alone', async () => {
    const opened = await openEmpty(/\/translations\/fr$/)
    const { page } = opened
    const notice = page.locator('.language-notice')
    opened.answer = FAILURES[0]!.answer
    await page.goto(`${server.origin}/organise?lang=fr`)
    await notice.getByText('Too many requests').waitFor()
    await page.getByLabel('Language').selectOption('es')
    await page.getByRole('link', { name: 'Mapa' }).waitFor()
    expect(await notice.innerText()).toBe('')

    await page.goto(`${server.origin}/organise?lang=fr`)
    await notice.getByText('Too many requests').waitFor()
    opened.answer = undefined
    await notice.getByRole('button', { name: 'Try again' }).click()

    await page.getByRole('link', { name: 'Carte' }).waitFor()
    forgive(opened)
  })

  test('a server that does not answer at all leaves the page in English, not blank', async () => {
    const opened = await openEmpty(/\/translations\/fr$/)
    const { page } = opened
    let release: () => void = () => {}
    opened.answer = (route) =>
      new Promise((resolve) => {
        release = () => resolve(route.continue())
      })
    await page.goto(`${server.origin}/organise?lang=fr`)
    await page.clock.fastForward(1_500)
    await page.getByRole('heading', { name: 'Which event is it?' }).waitFor()
    expect(await page.locator('.language-notice').innerText()).toBe('')

    release()
    await page.getByRole('link', { name: 'Carte' }).waitFor()
  })
})

describe('the world of the map', () => {
  test('a failure is named, and the map comes by itself', async () => {
    const opened = await openEmpty(/\/v2\/feed$/)
    const { page } = opened
    const cover = page.locator('.map-cover')
    for (const { name, answer, reason } of FAILURES) {
      opened.answer = answer
      await page.goto(`${server.origin}/`)

      await cover.getByRole('button', { name: 'Try again' }).waitFor()
      expect(await cover.innerText(), name).toMatch(reason)
      await opened.photograph(`feed-${name}`)
    }
    opened.answer = undefined
    await page.clock.fastForward(PAUSE_MS)
    await cover.waitFor({ state: 'detached' })
    forgive(opened)
  })

  test('a map that cannot be brought up to date says from when it is, and why', async () => {
    const opened = await openEmpty(/\/v2\/feed/, 'phone')
    const { page } = opened
    await page.goto(`${server.origin}/`)
    const banner = page.locator('.offline-banner')
    await page
      .getByText(/^As of/)
      .first()
      .waitFor({ state: 'attached' })
    await expect.poll(() => opened.asked.filter((address) => address.includes('/changes')).length).toBe(1)
    for (const { name, answer, reason } of FAILURES) {
      opened.answer = answer
      await page.evaluate(`dispatchEvent(new Event('offline'))`)
      await page.evaluate(`dispatchEvent(new Event('online'))`)

      await banner.getByText(reason).waitFor()
      await opened.photograph(`outdated-${name}`)
      expect(await banner.innerText(), name).toMatch(/map may be out of date\. As of/)
    }
    opened.answer = undefined
    await page.clock.fastForward(PAUSE_MS)
    await expect.poll(() => banner.innerText(), SOON).toBe('')
    forgive(opened)
  })
})

test('the panel of a parcel and the search name the failure', async () => {
  const opened = await openEmpty(/\/search|\/v1\/parcels\//)
  const { page } = opened
  for (const { name, answer, reason } of ONE_OF_EACH) {
    opened.answer = answer
    await page.goto(`${server.origin}/?parcel=1,-1`)
    const panel = page.locator('.asset-panel')
    await panel.getByText(reason).first().waitFor()
    expect(await panel.getByRole('button', { name: 'Try again' }).count(), name).toBeGreaterThan(0)
    await page.getByRole('combobox', { name: 'Search' }).fill('museum')
    await page.clock.fastForward(1_000)
    await page.locator('.search').getByText(reason).waitFor()
    await opened.photograph(`panel-${name}`)
  }
  forgive(opened)
})

describe('the organiser’s page', () => {
  test('the page of an event names the failure and comes by itself', async () => {
    const opened = await openEmpty(/\/(?:event|availability)\//)
    const { page } = opened
    for (const { name, answer, reason } of ONE_OF_EACH) {
      opened.answer = answer
      await page.goto(`${server.origin}/organise?event=90001`)
      await page.locator('main').getByText(reason).waitFor()
      await page.getByRole('button', { name: 'Try again' }).waitFor()
      await opened.photograph(`event-${name}`)
    }
    opened.answer = (route) =>
      route.fulfill({ status: 404, json: { ok: false, error: 'No.', code: 'event_not_found', data: {} } })
    await page.clock.fastForward(PAUSE_MS)
    await page.getByRole('heading', { name: 'This event is not registered here' }).waitFor()
    forgive(opened)
  })
})

describe('a page of an earlier visit', () => {
  test.each([
    { what: 'too busy', status: 429, type: 'application/json', reason: /Demasiadas|demasiadas/ },
    { what: 'failed', status: 503, type: 'text/html', reason: /El servidor ha fallado \(estado 503\)/ },
    {
      what: 'behind a sign-in page',
      status: 200,
      type: 'text/html',
      reason: /algo distinto de este servidor/,
    },
  ])('opens with its texts and its world while the server is $what', async ({ status, type, reason }) => {
    const front = await startFront()
    const opened = await openPage(front.origin, { size: 'phone', keepsPages: true, locale: 'es' })
    const { page } = opened
    await page.evaluate('navigator.serviceWorker.ready')
    await expect
      .poll(() => page.evaluate(KEPT), SOON)
      .toEqual(expect.arrayContaining(['/', '/v2/feed', '/translations/es']))

    front.failure = { status, type }
    // A page that is opened through a sign-in page is that page: only its data are kept from it.
    if (status === 200) front.failure = { status, type, isForPages: false }
    await page.reload()

    await page.getByRole('link', { name: 'Mapa' }).waitFor()
    const banner = page.locator('.offline-banner')
    await banner.getByText(reason).waitFor()
    await banner.getByText('El mapa puede no estar al día').waitFor()
    await opened.photograph(`kept-${status}`)
    front.failure = undefined
    await page.reload()
    await page.getByRole('link', { name: 'Mapa' }).waitFor()
    await page.close()
    await front.close()
    forgive(opened)
  })
})

/** The addresses that the worker keeps. */
const KEPT = `(async () => {
  const names = await caches.keys()
  const kept = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()))
  return kept.flat().map(({ url }) => new URL(url).pathname)
})()`

interface FrontFailure {
  readonly status: number
  readonly type: string
  /** Whether the pages and their files fail too; default true. */
  readonly isForPages?: boolean
}

/** A proxy before the server, which can answer everything itself. */
async function startFront() {
  const front = { failure: undefined as FrontFailure | undefined, origin: '', close: async () => {} }
  const proxy = http.createServer((request, response) => {
    const { failure } = front
    const isPage = /^\/(?:$|pages\/|[\w.-]+\.\w+$)/.test(request.url ?? '')
    if (failure && !(isPage && failure.isForPages === false)) {
      const json = JSON.stringify({ ok: false, error: 'Busy.', code: 'too_many_requests', data: {} })
      response.writeHead(failure.status, { 'content-type': failure.type, 'retry-after': '30' })
      return response.end(failure.type === 'text/html' ? PORTAL : json)
    }
    const { method, headers, url } = request
    const passed = http.request(server.origin + url, { method: method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    response.on('close', () => passed.destroy())
    passed.on('error', () => response.destroy())
    request.pipe(passed)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  front.origin = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`
  front.close = async () => {
    proxy.closeAllConnections()
    await new Promise((resolve) => proxy.close(resolve))
  }
  return front
}
