import fs from 'node:fs'
import path from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { expect, onTestFinished } from 'vitest'
import { launchBrowser } from './browser-program.ts'

/** Names a folder for the photographs that tests take of their pages. */
export const SCREENSHOTS_VARIABLE = 'LANDPASS_SCREENSHOTS'

/**
 * For `expect.poll`: the limit for everything that a page does by itself. It only ends tests that hang, so it is far above
 * what a busy machine needs.
 */
export const SOON = { timeout: 120_000 } as const

/** In CSS pixels. */
export const SIZES = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
} as const
export type Size = keyof typeof SIZES

export interface OpenOptions {
  readonly size: Size
  /** Pixels of the screen per CSS pixel: default 1. */
  readonly scale?: number
  /** Language of the browser; default `en-GB`. */
  readonly locale?: string
  /** Colour scheme of the system; default light. */
  readonly theme?: 'light' | 'dark'
  /** What the clock of the device shows, from the first script on; its timers run. Left out: the time of this machine. */
  readonly clockMs?: number
  /** Whether the page may keep itself for offline times; without it nothing of one visit is left for the next. */
  readonly keepsPages?: boolean
}

/** A place on the screen, in CSS pixels from its upper left corner. */
export interface Spot {
  readonly x: number
  readonly y: number
}

export interface OpenedPage {
  readonly page: Page
  /** The addresses that the page and its workers have asked for so far, in that order. */
  readonly asked: readonly string[]
  /**
   * What went wrong so far: errors on the console, failed requests, requests to anybody but 127.0.0.1. A test fails
   * that ends with one; a test that provokes them takes them out.
   */
  readonly problems: string[]
  /** With a finger on a phone, with the mouse on a desktop. */
  press(spot: Spot): Promise<void>
  /** Like {@link press}; in one stroke, so that nothing goes on sliding. */
  drag(from: Spot, to: Spot): Promise<void>
  /** What is on the screen. */
  look(): Promise<PNG>
  /** Writes what is on the screen to the folder `LANDPASS_SCREENSHOTS` under this name, if that is set. */
  photograph(name: string): Promise<void>
}

export type OpenPage = (address: string, options: OpenOptions) => Promise<OpenedPage>

/** The browser of this process, for all of its test files: every page has a context of its own. */
let browser: Promise<Browser> | undefined

/**
 * Opens pages in a browser that is started with the first of them; every page ends with its test.
 *
 * @example
 * const open = testBrowser()
 * test('the map is drawn', async () => {
 *   const { page } = await open(`${origin}/map.html`, { size: 'phone' })
 *   await page.locator('canvas').click()
 * })
 */
export function testBrowser(): OpenPage {
  return async (
    address,
    { size, scale = 1, locale = 'en-GB', theme = 'light', clockMs, keepsPages = false },
  ) => {
    const isPhone = size === 'phone'
    const context = await (await sharedBrowser()).newContext({
      viewport: SIZES[size],
      deviceScaleFactor: scale,
      isMobile: isPhone,
      hasTouch: isPhone,
      locale,
      colorScheme: theme,
      serviceWorkers: keepsPages ? 'allow' : 'block',
      timezoneId: 'UTC',
      reducedMotion: 'reduce', // tests look at pages at rest
    })
    context.setDefaultTimeout(SOON.timeout)
    const watched = watch(context)
    const page = await context.newPage()
    onTestFinished(async () => {
      const problems = [...watched.problems]
      // A made answer may be on its way, because a page asks again by itself. Without it the page asks the server.
      if (!page.isClosed()) await page.unrouteAll({ behavior: 'ignoreErrors' })
      await context.close()
      expect(problems, `what went wrong in ${address}`).toEqual([])
    })
    if (clockMs !== undefined) await page.clock.setFixedTime(clockMs)
    await page.goto(address)
    const hand = isPhone ? finger(page) : mouse(page)
    return { page, ...watched, ...hand, look: () => look(page), photograph: (name) => photograph(page, name) }
  }
}

/** As if the reader came back to the page: it asks at once. */
export async function lookAgain(page: Page): Promise<void> {
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
}

async function sharedBrowser(): Promise<Browser> {
  browser ??= launchBrowser()
  const launched = await browser.catch((error: unknown) => {
    browser = undefined // so that the next test tries again
    throw error
  })
  if (launched.isConnected()) return launched
  browser = undefined
  return sharedBrowser()
}

function watch(context: BrowserContext): { readonly asked: readonly string[]; readonly problems: string[] } {
  const asked: string[] = []
  const problems: string[] = []
  context.on('request', (request) => {
    asked.push(request.url())
    if (isForeign(request.url())) problems.push(`foreign request: ${request.url()}`)
  })
  context.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`)
  })
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText
    // A page may lose interest, in a tile that has left the screen for instance.
    if (reason !== 'net::ERR_ABORTED') problems.push(`${reason}: ${request.url()}`)
  })
  context.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`)
  })
  context.on('weberror', (error) => problems.push(`thrown: ${error.error()}`))
  return { asked, problems }
}

function isForeign(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol !== 'data:' && protocol !== 'blob:' && hostname !== '127.0.0.1'
}

function mouse({ mouse }: Page): Pick<OpenedPage, 'press' | 'drag'> {
  return {
    press: ({ x, y }) => mouse.click(x, y),
    drag: async (from, to) => {
      await mouse.move(from.x, from.y)
      await mouse.down()
      await mouse.move(to.x, to.y)
      await mouse.up()
    },
  }
}

function finger(page: Page): Pick<OpenedPage, 'press' | 'drag'> {
  return {
    press: ({ x, y }) => page.touchscreen.tap(x, y),
    drag: async (from, to) => {
      const session = await page.context().newCDPSession(page)
      const at = 'Input.dispatchTouchEvent'
      await session.send(at, { type: 'touchStart', touchPoints: [from] })
      await session.send(at, { type: 'touchMove', touchPoints: [to] })
      await session.send(at, { type: 'touchEnd', touchPoints: [] })
      await session.detach()
    },
  }
}

/** The last screenshot of each page. Of an unchanged screen it has the same bytes, and decoding them takes most of the time. */
const looks = new WeakMap<Page, { readonly bytes: Buffer; readonly picture: PNG }>()

async function look(page: Page): Promise<PNG> {
  const bytes = await page.screenshot()
  const last = looks.get(page)
  if (last?.bytes.equals(bytes)) return last.picture
  const picture = PNG.sync.read(bytes)
  looks.set(page, { bytes, picture })
  return picture
}

async function photograph(page: Page, name: string): Promise<void> {
  const folder = process.env[SCREENSHOTS_VARIABLE]
  if (!folder) return // a tenth of a second of CPU time for a picture that nobody looks at
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, `${name}.png`), await page.screenshot())
}
