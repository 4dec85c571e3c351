import type { Coord } from '@landpass/client/grid'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { SOON, type Spot } from './browser.ts'

/** What the map of a page shows: the place in its middle, and the side of a parcel in CSS pixels. */
export interface PageView extends Coord {
  readonly zoom: number
}

/** A colour as `#rrggbb`. */
type Colour = string

/** The map of one of our pages, as its reader sees it. The canvas says what it shows: web/src/map/map-engine.ts. */
export class PageMap {
  private readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  get surface() {
    return this.page.locator('.map-surface')
  }

  /** What is on the screen now. */
  async view(): Promise<PageView> {
    const [x = NaN, y = NaN, zoom = NaN] = ((await this.attribute('view')) ?? '').split(',').map(Number)
    return { x, y, zoom }
  }

  /** How often the canvas was painted so far. */
  async paints(): Promise<number> {
    return Number(await this.attribute('paints'))
  }

  /** How often all of the canvas was painted, and not only what lights up. */
  async wholePaints(): Promise<number> {
    return Number(await this.attribute('whole-paints'))
  }

  /** Whether something lights up. */
  async isLit(): Promise<boolean> {
    return (await this.attribute('lit')) === 'true'
  }

  /** The parcel that was chosen last, as `x,y`. */
  chosen(): Promise<string | null> {
    return this.attribute('chosen')
  }

  /** Waits until all of the map is sharp, and the view is the expected one. */
  async shows(isExpected: (view: PageView) => boolean = () => true): Promise<PageView> {
    const look = async () => (await this.attribute('picture')) === 'sharp' && isExpected(await this.view())
    await expect.poll(look, SOON).toBe(true)
    return this.view()
  }

  /** Where the middle of a parcel is on the screen. */
  async spotOf({ x, y }: Coord): Promise<Spot> {
    const box = await this.box()
    const view = await this.view()
    return {
      x: box.x + box.width / 2 + (x - view.x) * view.zoom,
      y: box.y + box.height / 2 - (y - view.y) * view.zoom,
    }
  }

  /** The parcel at a spot of the screen. */
  async parcelAt(spot: Spot): Promise<Coord> {
    const box = await this.box()
    const view = await this.view()
    return {
      x: Math.round(view.x + (spot.x - box.x - box.width / 2) / view.zoom),
      y: Math.round(view.y - (spot.y - box.y - box.height / 2) / view.zoom),
    }
  }

  /** The colours in the middles of parcels, as the canvas has them. */
  async coloursAt(places: readonly Coord[]): Promise<Colour[]> {
    const { width, height } = await this.box()
    const view = await this.view()
    const inside = places.map(({ x, y }) => [
      0.5 + ((x - view.x) * view.zoom) / width,
      0.5 - ((y - view.y) * view.zoom) / height,
    ])
    return this.page.evaluate<Colour[]>(`(() => {
      ${PIXELS}
      return ${JSON.stringify(inside)}.map(([across, down]) =>
        colourOf(pixels[Math.floor(down * height) * width + Math.floor(across * width)]))
    })()`)
  }

  /** Every colour that the canvas has anywhere. */
  async colours(): Promise<Colour[]> {
    return this.page.evaluate<Colour[]>(`(() => {
      ${PIXELS}
      return [...new Set(pixels)].map(colourOf)
    })()`)
  }

  /** Pixels of the canvas for a CSS pixel. */
  async scale(): Promise<number> {
    const box = await this.box()
    return (await this.surface.evaluate<number, HTMLCanvas>(({ width }) => width)) / box.width
  }

  private attribute(what: string): Promise<string | null> {
    return this.surface.getAttribute(`data-${what}`)
  }

  private async box() {
    const box = await this.surface.boundingBox()
    if (!box) throw new Error('the page shows no map')
    return box
  }
}

interface HTMLCanvas {
  readonly width: number
}

/** Reads the canvas itself: panels of the page may lie over it. */
const PIXELS = `
  const canvas = document.querySelector('.map-surface')
  const { width, height } = canvas
  const { data } = canvas.getContext('2d').getImageData(0, 0, width, height)
  const pixels = new Uint32Array(data.buffer)
  const colourOf = (pixel) =>
    '#' + [0, 8, 16].map((bits) => ((pixel >> bits) & 255).toString(16).padStart(2, '0')).join('')
`
