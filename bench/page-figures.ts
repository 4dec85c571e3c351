import { gzipSync } from 'node:zlib'
import { launchBrowser } from '@landpass/server/test/support/pages/browser-program'
import { median } from '@landpass/server/test/support/processes/load'
import type { Browser, CDPSession, Page } from 'playwright-core'

/**
 * Measures the map page in a browser without a graphics card and with a quarter of the CPU speed: time to the first full
 * map, frames while the mouse drags it, bytes of its scripts. Before each drag the same mouse movement is measured on an
 * empty page: if that has fewer than 60 frames a second, the machine is busy with other work.
 */

const SLOWDOWN = 4
const SCREEN = { width: 1280, height: 800 }
const ROUNDS = 3
const WANTED = { paintedMs: 1500, framesPerSecond: 50, scriptBytes: 60_000 }
/** Set by the map when all of it is on the screen for the first time: web/src/map/map-engine.ts. */
const PAINTED_MARK = 'landpass-map-painted'
const PAN_MS = 3_000
const SHARP_MAP = 'canvas[data-picture="sharp"]'
/** How many times + is pressed before the drag: whole world, streets, single parcels. */
const ZOOM_STEPS = [0, 2, 4]

export async function measurePages(origin: string): Promise<void> {
  const browser = await launchBrowser()
  try {
    console.log(
      `\nthe map page, Chromium ${browser.version()}, ${SLOWDOWN} times slowed down, no graphics card`,
    )
    await measureWeight(browser, origin)
    for (const scale of [1, 2]) {
      await measurePainting(browser, origin, scale)
      await measurePanning(browser, origin, scale)
    }
  } finally {
    await browser.close()
  }
}

async function measureWeight(browser: Browser, origin: string): Promise<void> {
  const { page, close } = await openSlowed(browser, 1)
  const weights = { script: 0, all: 0 }
  const weighing: Promise<void>[] = []
  page.on('response', (response) => {
    const type = response.headers()['content-type'] ?? ''
    const weigh = async () => {
      const bytes = gzipSync(await response.body(), { level: 9 }).length
      weights.all += bytes
      if (type.includes('javascript')) weights.script += bytes
    }
    if (response.ok() && !type.includes('event-stream')) weighing.push(weigh())
  })
  await showMap(page, origin)
  await Promise.all(weighing)
  await close()
  console.log(
    `bytes with gzip: ${weights.script} of script (at most ${WANTED.scriptBytes}), ${weights.all} in all with the world`,
  )
}

async function measurePainting(browser: Browser, origin: string, scale: number): Promise<void> {
  const timesMs: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { page, close } = await openSlowed(browser, scale)
    await showMap(page, origin)
    timesMs.push(await page.evaluate<number>(`performance.getEntriesByName('${PAINTED_MARK}')[0].startTime`))
    await close()
  }
  console.log(
    `scale ${scale}: first full map after ${median(timesMs).toFixed(0)} ms (at most ${WANTED.paintedMs})`,
  )
}

async function measurePanning(browser: Browser, origin: string, scale: number): Promise<void> {
  const { page, close } = await openSlowed(browser, scale)
  await showMap(page, origin)
  for (const steps of ZOOM_STEPS) {
    await page.locator('.map-surface').focus()
    await page.keyboard.press('0')
    for (let step = 0; step < steps; step++) await page.keyboard.press('+')
    await page.waitForSelector(SHARP_MAP)
    const rates: number[] = []
    const longest: number[] = []
    const empty: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      empty.push((await framesOfEmptyPage(browser, scale)).perSecond)
      await page.bringToFront()
      const frames = await framesWhilePanning(page)
      rates.push(frames.perSecond)
      longest.push(frames.longestMs)
    }
    const zoom = await page.evaluate<string>(
      `Number(document.querySelector('canvas').dataset.view.split(',')[2]).toFixed(1)`,
    )
    console.log(
      `scale ${scale}, ${zoom} px a parcel: ${median(rates).toFixed(1)} frames a second while panning ` +
        `(at least ${WANTED.framesPerSecond}), the longest ${median(longest).toFixed(0)} ms; ` +
        `an empty page: ${median(empty).toFixed(1)}`,
    )
  }
  await close()
}

async function openSlowed(browser: Browser, scale: number) {
  const context = await browser.newContext({
    viewport: SCREEN,
    deviceScaleFactor: scale,
    serviceWorkers: 'block',
    // No animation between zoom levels; the measured drags do not change
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const session: CDPSession = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
  return { page, close: () => context.close() }
}

async function showMap(page: Page, origin: string): Promise<void> {
  await page.goto(origin)
  await page.waitForSelector(SHARP_MAP)
}

interface Frames {
  readonly perSecond: number
  readonly longestMs: number
}

async function framesOfEmptyPage(browser: Browser, scale: number): Promise<Frames> {
  const { page, close } = await openSlowed(browser, scale)
  const frames = await framesWhileDragging(page, { x: 0, y: 0, ...SCREEN })
  await close()
  return frames
}

async function framesWhilePanning(page: Page): Promise<Frames> {
  const box = await page.locator('.map-surface').boundingBox()
  if (!box) throw new Error('there is no map on the page')
  return framesWhileDragging(page, box)
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Drags the mouse over a part of the page, and counts the frames of the page during that time. */
async function framesWhileDragging(page: Page, box: Box): Promise<Frames> {
  const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 }
  await page.mouse.move(middle.x, middle.y)
  await page.mouse.down()
  await page.evaluate(`{
    const times = window.frameTimes = []
    const next = (time) => { times.push(time); window.frameRequest = requestAnimationFrame(next) }
    window.frameRequest = requestAnimationFrame(next)
  }`)
  const startMs = performance.now()
  for (let turn = 0; performance.now() - startMs < PAN_MS; turn += 0.05) {
    const x = middle.x + (Math.sin(turn) * box.width) / 2.2
    await page.mouse.move(x, middle.y + (Math.sin(turn * 2) * box.height) / 2.2)
  }
  const times = await page.evaluate<number[]>('cancelAnimationFrame(window.frameRequest), window.frameTimes')
  await page.mouse.up()
  const gapsMs = times.slice(1).map((time, i) => time - times[i]!)
  const totalMs = gapsMs.reduce((sum, gap) => sum + gap, 0)
  return { perSecond: (1000 * gapsMs.length) / totalMs, longestMs: Math.max(...gapsMs) }
}
