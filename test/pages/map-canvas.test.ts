import type { Coord } from '@landpass/client/grid'
import { INKS, PALETTES } from '@landpass/server/map/palette'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { expectAccessible } from '@landpass/server/test/support/pages/axe'
import { type OpenOptions, SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import { PageMap } from '@landpass/server/test/support/pages/page-map'
import { pauseFrames } from '@landpass/server/test/support/pages/paused-frames'
import type { CDPSession } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const RADIUS = 28
/** A parcel of no estate and no district, with an owner; found below. */
let lonely: Coord
let places: readonly Coord[]

const openEngine = freshEngine('postgres')
const openPage = testBrowser()
let land: DemoLand
beforeAll(async () => {
  land = await startDemoLand(await openEngine(), { radius: RADIUS })
  const tiles = Object.values(await tilesOf())
  places = tiles.map(({ x, y }) => ({ x, y }))
  lonely = tiles.find(({ type, estateId, x, y }) => type === 'owned' && !estateId && Math.hypot(x, y) < 12)!
})
afterAll(() => land.server.close())

describe('the picture', () => {
  for (const theme of ['light', 'dark'] as const) {
    for (const scale of [1, 2]) {
      test(`has the colour of every parcel and no others, ${theme}, ${scale} pixels per CSS pixel`, async () => {
        const map = await open('/?layer=none', { size: 'desktop', theme, scale })

        const whole = await map.shows()

        expect(await map.scale()).toBe(scale)
        expect(whole).toMatchObject({ x: 0, y: 0 })
        await expectLand(map, theme)
        await map.surface.press('+')
        await map.shows(({ zoom }) => zoom > whole.zoom * 1.5)
        await expectLand(map, theme)
      })
    }
  }

  test('has them also where parcels are too small for gaps, and what is for sale stands out', async () => {
    const map = await open('/', { size: 'phone' })
    const whole = await map.shows()

    await map.surface.press('-')
    const { zoom } = await map.shows((view) => view.zoom < whole.zoom)

    expect(zoom).toBeLessThan(5)
    await expectLand(map, 'light', { showsSales: true })
  })

  test('dims what the filters do not keep', async () => {
    const { land: rows } = await land.server.data<{ land: Coord[] }>('/v2/land?asset_type=estate&limit=1000')

    const map = await open('/?layer=none&asset_type=estate', { size: 'desktop', theme: 'dark' })

    await expect.poll(() => map.coloursAt([lonely]), SOON).toEqual(coloursOf('dark', 'owned').map(dimmed))
    await map.shows()
    expect(new Set(await map.coloursAt(rows))).toEqual(new Set(coloursOf('dark', 'owned')))
  })

  test('has names and coordinates in letters, which stay where they are on the land, and prices close by', async () => {
    const map = await open('/?at=0,0&zoom=12', { size: 'desktop' })
    await expect.poll(() => lettersOf(map), SOON).toMatchObject({ names: expect.stringMatching(/^[1-9]/) })
    const { ink } = await lettersOf(map)
    expect(ink).toBeGreaterThan(1_000)

    for (let step = 0; step < 3; step++) await map.surface.press('+')
    await map.shows(({ zoom }) => zoom === 96)

    // At this zoom every parcel says where it is.
    await expect.poll(async () => (await lettersOf(map)).ink, SOON).toBeGreaterThan(ink * 2)
  })

  test('shows a change by itself, and paints nothing when there is none', async () => {
    const map = await open('/?layer=none', { size: 'desktop' })
    await map.shows()
    expect(await map.coloursAt([lonely])).toEqual(coloursOf('light', 'owned'))

    await land.change({ kind: 'change-parcel', ...lonely, to: { owner: null } })

    await expect.poll(() => map.coloursAt([lonely]), SOON).toEqual(coloursOf('light', 'unowned'))
    const paints = await map.paints()
    await map.surface.evaluate(THIRTY_FRAMES)
    expect(await map.paints()).toBe(paints)
  })
})

describe('without reduced motion', () => {
  test('a change lights up and fades; motions end, and then nothing is painted', async () => {
    const { map, page } = await openWithHands('/?layer=none', { size: 'desktop' })
    const whole = await map.shows()
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    const playFrames = await pauseFrames(page)
    const paints = await map.paints()

    await land.change({ kind: 'change-parcel', ...lonely, to: { owner: `0x${'7'.repeat(40)}` } })

    const isLit = () => playFrames().then(() => map.isLit())
    await expect.poll(isLit, SOON).toBe(true)
    await expect.poll(isLit, SOON).toBe(false)
    // One painting would be enough for a change of colour.
    expect(await map.paints()).toBeGreaterThan(paints + 3)
    expect(await map.coloursAt([lonely])).toEqual(coloursOf('light', 'owned'))
    await page.clock.resume()
    await page.mouse.move(700, 300)
    await page.mouse.wheel(0, -240)
    await map.shows(({ zoom }) => Math.abs(zoom / whole.zoom - Math.exp(240 / 380)) < 1e-6)
    await page.getByRole('button', { name: 'Whole world' }).click()
    await map.shows(({ zoom }) => zoom === whole.zoom)
    const rested = await map.paints()
    await map.surface.evaluate(THIRTY_FRAMES)
    expect(await map.paints()).toBe(rested)
  })
})

describe('mouse and fingers', () => {
  test('the wheel zooms about the pointer, a drag pushes, a click picks', async () => {
    const { map, page, drag } = await openWithHands('/', { size: 'desktop' })
    const whole = await map.shows()
    const spot = { x: 760, y: 300 }
    const parcel = await map.parcelAt(spot)

    await page.mouse.move(spot.x, spot.y)
    await page.mouse.wheel(0, -240)
    const closer = await map.shows(({ zoom }) => zoom > whole.zoom)

    expect(await map.parcelAt(spot)).toEqual(parcel)
    expect(await page.locator('.map-readout').innerText()).toBe(`${parcel.x},${parcel.y}`)
    await drag(spot, { x: spot.x + 90, y: spot.y + 45 })
    const pushed = await map.shows(({ x }) => x !== closer.x)
    expect((closer.x - pushed.x) * closer.zoom).toBeCloseTo(90, 6)
    expect((pushed.y - closer.y) * closer.zoom).toBeCloseTo(45, 6)
    expect(await map.chosen(), 'dragging picks nothing').toBeNull()

    const target = await map.spotOf(parcel)
    await page.mouse.click(target.x, target.y)
    await expect.poll(() => map.chosen(), SOON).toBe(`${parcel.x},${parcel.y}`)
  })

  test('a double click zooms in about the pointer, and the buttons about the middle', async () => {
    const { map, page } = await openWithHands('/', { size: 'desktop' })
    const whole = await map.shows()
    const spot = { x: 700, y: 350 }
    const parcel = await map.parcelAt(spot)

    await page.mouse.dblclick(spot.x, spot.y)
    const closer = await map.shows(({ zoom }) => zoom > whole.zoom * 1.5)
    expect(await map.parcelAt(spot)).toEqual(parcel)

    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Zoom in' }).click()
    const closest = await map.shows(({ zoom }) => zoom > closer.zoom * 1.5)
    expect(closest).toMatchObject({ x: closer.x, y: closer.y })
    await page.getByRole('button', { name: 'Zoom out' }).click()
    await map.shows(({ zoom }) => zoom < closest.zoom)
    await page.getByRole('button', { name: 'Whole world' }).click()
    await map.shows(({ x, y, zoom }) => x === 0 && y === 0 && zoom === whole.zoom)
  })

  test('however far it is dragged, the world stays on the screen', async () => {
    const { map, drag } = await openWithHands('/', { size: 'desktop' })
    await map.shows()

    for (let push = 0; push < 5; push++) await drag({ x: 1000, y: 400 }, { x: 300, y: 300 })

    await map.shows((view) => view.x > RADIUS)
    const edge = await map.spotOf({ x: RADIUS, y: 0 })
    expect(edge.x).toBeGreaterThan(100)
    expect(new Set(await map.colours()).size).toBeGreaterThan(3)
  })

  test('a finger pushes and taps, two fingers zoom about the middle between them', async () => {
    const { map, page, press, drag } = await openWithHands('/', { size: 'phone', scale: 2 })
    const whole = await map.shows()
    const middle = { x: 180, y: 400 }
    const parcel = await map.parcelAt(middle)
    const touch = await page.context().newCDPSession(page)

    await spread(touch, middle, 40, 120)
    const closer = await map.shows(({ zoom }) => zoom > whole.zoom * 2)

    expect(closer.zoom / whole.zoom).toBeCloseTo(3, 1)
    expect(await map.parcelAt(middle)).toEqual(parcel)
    await drag({ x: 200, y: 350 }, { x: 120, y: 400 })
    const pushed = await map.shows(({ x }) => x !== closer.x)
    expect((pushed.x - closer.x) * closer.zoom).toBeCloseTo(80, 6)
    expect(await map.chosen(), 'neither of them picks').toBeNull()

    const target = await map.spotOf(parcel)
    await press(target)
    await expect.poll(() => map.chosen(), SOON).toBe(`${parcel.x},${parcel.y}`)
  })
})

describe('the keyboard', () => {
  test('moves a cursor that is announced, keeps it visible, zooms, and picks', async () => {
    const { map, page } = await openWithHands('/?at=0,0&zoom=40', { size: 'desktop' })
    await map.shows()
    const status = page.locator('.world-map [role=status]')
    const announced = (place: string) => status.filter({ hasText: new RegExp(`\\b${place}\\b`) })
    await map.surface.focus()
    await expectAccessible(page)

    await page.keyboard.press('ArrowRight')
    await announced('0,0').waitFor({ state: 'attached' })
    await page.keyboard.press('ArrowRight')
    await announced('1,0').waitFor({ state: 'attached' })
    for (let press = 0; press < 2; press++) await page.keyboard.press('Shift+ArrowUp')
    await announced('1,20').waitFor({ state: 'attached' })

    await map.shows(({ y, zoom }) => Math.abs(20 - y) * zoom < 350)
    await page.keyboard.press('-')
    await map.shows(({ zoom }) => zoom === 20)
    await Promise.all([page.keyboard.press('Enter'), page.keyboard.press('0')])
    await expect.poll(() => map.chosen(), SOON).toBe('1,20')
    await map.shows(({ x, y }) => x === 0 && y === 0)
  })

  test('cannot leave the world', async () => {
    const { map, page } = await openWithHands('/', { size: 'desktop' })
    await map.shows()
    await map.surface.focus()

    for (let press = 0; press < 5; press++) await page.keyboard.press('Shift+ArrowLeft')
    await page.keyboard.press('Space')

    await expect.poll(() => map.chosen(), SOON).toBe(`-${RADIUS},0`)
  })
})

const THIRTY_FRAMES = `new Promise((resolve) => {
  let frames = 0
  const next = () => (++frames < 30 ? requestAnimationFrame(next) : resolve())
  next()
})`

interface Tile extends Coord {
  readonly type: string
  readonly estateId?: string
  readonly price?: number
}

function tilesOf(): Promise<Record<string, Tile>> {
  return land.server.data<Record<string, Tile>>('/v2/tiles')
}

async function openWithHands(path: string, options: OpenOptions) {
  const opened = await openPage(land.server.origin + path, options)
  return { ...opened, map: new PageMap(opened.page) }
}

async function open(path: string, options: OpenOptions): Promise<PageMap> {
  return (await openWithHands(path, options)).map
}

/** Fails unless every parcel has its colour, and no pixel has one that the palette does not know: nothing is blurred. */
async function expectLand(map: PageMap, theme: 'light' | 'dark', { showsSales = false } = {}): Promise<void> {
  const tiles = await tilesOf()
  const { x, y, zoom } = await map.view()
  const seen = places.filter(
    (place) => Math.abs(place.x - x) * zoom < 150 && Math.abs(place.y - y) * zoom < 300,
  )
  const wanted = seen.flatMap((place) => {
    const { type, price } = tiles[`${place.x},${place.y}`]!
    return coloursOf(theme, showsSales && price !== undefined ? 'onSale' : (type as 'owned'))
  })

  expect(await map.coloursAt(seen)).toEqual(wanted)
  expect(new Set(wanted).size).toBeGreaterThan(2)
  const known = coloursOf(theme, 'outside', 'unowned', 'owned', 'district', 'road', 'plaza', 'onSale')
  expect((await map.colours()).filter((colour) => !known.includes(colour))).toEqual([])
}

/** The colours of the server's images: maps in other pages look the same. */
function coloursOf(theme: 'light' | 'dark', ...inks: (keyof typeof INKS)[]): string[] {
  return inks.map((ink) => {
    const at = INKS[ink] * 3
    return `#${Buffer.from(PALETTES[theme].subarray(at, at + 3)).toString('hex')}`
  })
}

/** How many names the map shows, and how many pixels letters and the strips of the edge have. */
function lettersOf({ surface }: PageMap): Promise<{ readonly names: string; readonly ink: number }> {
  return surface.evaluate(`(() => {
    const canvas = document.querySelector('.map-letters')
    const { data } = canvas.getContext('2d').getImageData(40, 0, canvas.width - 40, canvas.height - 20)
    return { names: canvas.dataset.names, ink: data.filter((part, i) => i % 4 === 3 && part > 0).length }
  })()`)
}

/** Three tenths of a colour, over that of the gaps. */
function dimmed(colour: string): string {
  const [gap = ''] = coloursOf('dark', 'outside')
  const parts = [1, 3, 5].map((at) => {
    const [from = NaN, to = NaN] = [gap, colour].map((hex) => Number.parseInt(hex.slice(at, at + 2), 16))
    return Math.trunc(from + (to - from) * 0.3)
  })
  return `#${Buffer.from(parts).toString('hex')}`
}

/** Puts two fingers on the screen, each so far from the middle, and moves them apart. */
async function spread(session: CDPSession, middle: Coord, fromPx: number, toPx: number): Promise<void> {
  const fingers = (px: number) => [
    { x: middle.x - px / 2, y: middle.y, id: 1 },
    { x: middle.x + px / 2, y: middle.y, id: 2 },
  ]
  const dispatch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: ReturnType<typeof fingers>) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints })
  await dispatch('touchStart', fingers(fromPx))
  for (let step = 1; step <= 4; step++)
    await dispatch('touchMove', fingers(fromPx + ((toPx - fromPx) * step) / 4))
  await dispatch('touchEnd', [])
}
