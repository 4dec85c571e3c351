import { SECOND_MS } from '@landpass/server/clock'
import { INKS, PALETTES } from '@landpass/server/map/palette'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { pictureAt, readPicture } from '@landpass/server/test/support/images/pictures'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { type OpenedPage, SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import { type ExampleServer, serveExamples } from '@landpass/server/test/support/pages/example-pages'
import {
  colourAt,
  expectOnScreen,
  type MapView,
  rgb,
  spotOf,
  tilesAskedFor,
} from '@landpass/server/test/support/pages/map-screen'
import type { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** The zoom is what the pages begin with: the whole world is in sight. Phones have dense screens. */
const SCREENS = [
  { library: 'leaflet', size: 'phone', scale: 2, zoom: 1 },
  { library: 'leaflet', size: 'desktop', scale: 1, zoom: 2 },
  { library: 'maplibre', size: 'phone', scale: 2, zoom: 1 },
] as const
/** The pages have the colour of what is outside of the world, so that the pyramid has no edge. */
const BACKGROUND = rgb(PALETTES.dark, 3 * INKS.outside)

const openEngine = freshEngine('postgres')
const open = testBrowser()
let land: DemoLand
let examples: ExampleServer

beforeAll(async () => {
  // A town in the middle of a world of the usual size, for which the examples are written
  land = await startDemoLand(await openEngine(), { radius: 50, emptyAreas: '-150,-150,150,150' })
  examples = await serveExamples(land.server.origin)
})
afterAll(async () => {
  examples.close()
  await land.server.close()
})

for (const { library, size, scale, zoom } of SCREENS) {
  describe(`the example for ${library} on a ${size}`, () => {
    test('shows the world pixel for pixel, nearer and elsewhere too, and names what is pressed', async () => {
      const opened = await open(`${examples.origin}/${library}.html`, { size, scale })
      const whole: MapView = { origin: land.server.origin, size, scale, zoom, eastPx: 0, southPx: 0 }
      const { screen, colours } = await expectOnScreen(opened, whole, BACKGROUND)
      expect(colours.size).toBeGreaterThanOrEqual(6)
      expect(colourAt(screen, spotOf(whole, { x: 0, y: 0 }), whole)).not.toBe(BACKGROUND)
      await opened.photograph(`${library}-${size}-whole`)

      for (const nearer of [zoom + 1, zoom + 2]) {
        await opened.page.getByLabel('Zoom in').click()
        await expectOnScreen(opened, { ...whole, zoom: nearer }, BACKGROUND)
      }

      await opened.drag({ x: 250, y: 350 }, { x: 140, y: 420 })
      const elsewhere: MapView = { ...whole, zoom: zoom + 2, eastPx: 110, southPx: -70 }
      const there = await expectOnScreen(opened, elsewhere, BACKGROUND)
      await expectNamed(opened, elsewhere, there.screen)
      await opened.photograph(`${library}-${size}-elsewhere`)

      const asked = tilesAskedFor(opened)
      expect(new Set(asked.map((tile) => tile.zoom))).toEqual(new Set([zoom, zoom + 1, zoom + 2]))
      expect(new Set(asked.map((tile) => tile.isDense))).toEqual(new Set([scale > 1]))
    })
  })
}

/**
 * Presses parcels around the middle of the world: the page has to name them, and their colour on the screen to be that
 * of their own image.
 */
async function expectNamed(opened: OpenedPage, view: MapView, screen: PNG): Promise<void> {
  // Two at once, or two close together, would be a double tap.
  const places = [
    { x: 0, y: 0 },
    { x: 40, y: 30 },
    { x: -1, y: -1 },
    { x: 45, y: -20 },
    { x: 0, y: -1 },
    { x: 20, y: -25 },
    { x: -1, y: 0 },
  ]
  await opened.page.clock.install()
  for (const { x, y } of places) {
    const spot = spotOf(view, { x, y })
    await opened.page.clock.fastForward(SECOND_MS)
    await opened.press(spot)
    await expect.poll(() => opened.page.locator('output').textContent(), SOON).toBe(`Parcel ${x},${y}`)
    const image = await pictureAt(land.server, `/map.png?width=64&height=64&size=32&center=${x},${y}`)
    expect(hex(colourAt(screen, spot, view)), `${x},${y}`).toBe(readPicture(image).rgb(32, 32))
  }
}

function hex(colour: number): string {
  return `#${colour.toString(16).padStart(6, '0')}`
}
