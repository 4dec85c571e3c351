import { coordText } from '@landpass/client/grid'
import type { Freshness } from '../../freshness.ts'
import { type Answer, answerHeaders, type Format } from '../../http/answer.ts'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import type { CounterSource, GaugeSource } from '../../http/metrics.ts'
import { type ReadyAnswer, readyAnswer } from '../../http/ready-answers.ts'
import { renderMap } from '../../map/render.ts'
import type { View } from '../../map/view.ts'
import type { State } from '../../state/state.ts'
import type { LandContext } from '../common/land-context.ts'
import { BoundedCache } from './bounded-cache.ts'

/** What a requested map image shows. */
export interface PictureRequest {
  readonly view: View
  /** Whether parcels for sale are highlighted. */
  readonly showsOffers: boolean
}

interface Picture {
  readonly tag: string
  readonly png: Buffer
}

interface ShownLand {
  readonly state: State
  readonly offers: Int32Array | undefined
  readonly freshness: Freshness
}

/** An address exactly as it was requested, with its query, and the group of the route that answers it. */
export interface RequestedAddress {
  readonly group: string
  readonly url: string
}

/** The picture that an address names, until the land changes. */
interface KnownAddress {
  readonly group: string
  /** Key of the picture in its cache. */
  readonly cacheKey: string
  readonly showsOffers: boolean
}

/** Some thousand pictures of the default size. */
const PICTURES_BYTES = 16 * 1024 * 1024
const ADDRESSES_BYTES = 512 * 1024
/** Longer addresses have hundreds of selected parcels, and are rarely requested twice. */
const MAX_ADDRESS_LENGTH = 512
const KNOWN_ADDRESS_BYTES = 64

/** Part of the ETag. Change it when the drawing changes, so that clients replace their copies. */
const LOOK = 'look1'
const PNG: Format = { contentType: 'image/png', hasVaryHeader: false }

/**
 * Draws pictures and caches those of the current revision. Addresses that name the same picture share it. A second
 * cache holds the picture of each address, so that a repeated request needs no parsing.
 */
export class Pictures {
  private readonly land: Pick<LandContext, 'state' | 'clock'>
  private readonly pictures = new BoundedCache<Picture>(PICTURES_BYTES)
  private readonly addresses = new BoundedCache<KnownAddress>(ADDRESSES_BYTES)
  /** The revision that both caches belong to. */
  private revisionTag = ''
  private hits = 0
  private drawn = 0

  constructor(land: Pick<LandContext, 'state' | 'clock'>) {
    this.land = land
  }

  /** The answer to a request. Its body takes the picture from the cache or draws it, and caches the address. */
  answer(pictureRequest: PictureRequest, address: RequestedAddress): Answer {
    const land = this.shownLand(pictureRequest.showsOffers)
    let key: string | undefined
    const keyOnce = () => {
      key ??= cacheKeyOf(pictureRequest)
      return key
    }
    const costOf = () =>
      this.pictures.has(keyOnce()) ? SMALL_ANSWER_UNITS : drawingCost(pictureRequest.view)
    const body = () => {
      const cacheKey = keyOnce()
      const png = this.cached(cacheKey, land.freshness) ?? this.draw(land, pictureRequest.view, cacheKey)
      this.cacheAddress(address.url, {
        group: address.group,
        cacheKey,
        showsOffers: pictureRequest.showsOffers,
      })
      return png
    }
    return {
      freshness: land.freshness,
      format: PNG,
      // Not computed for a client whose copy is current
      get cost() {
        return costOf()
      },
      body,
    }
  }

  /** The ready answer for an address that was requested before, if its picture is cached. */
  findReady(url: string): ReadyAnswer | undefined {
    const known = this.addresses.get(url)
    if (!known) return undefined
    const { freshness } = this.shownLand(known.showsOffers)
    const png = this.cached(known.cacheKey, freshness)
    if (!png) return undefined
    return readyAnswer({
      group: known.group,
      headers: answerHeaders({ freshness, format: PNG }),
      body: png,
    })
  }

  get gauges(): readonly GaugeSource[] {
    return [
      {
        name: 'landpass_picture_cache_bytes',
        help: 'Bytes of the cached pictures.',
        read: () => this.pictures.bytes,
      },
      {
        name: 'landpass_picture_cache_entries',
        help: 'Number of cached pictures.',
        read: () => this.pictures.size,
      },
    ]
  }

  get counters(): readonly CounterSource[] {
    return [
      {
        name: 'landpass_picture_cache_hits_total',
        help: 'Pictures that were answered from the cache.',
        read: () => this.hits,
      },
      {
        name: 'landpass_picture_cache_misses_total',
        help: 'Pictures that were drawn.',
        read: () => this.drawn,
      },
    ]
  }

  /** The land as pictures of the current time show it. */
  private shownLand(showsOffers: boolean): ShownLand {
    const state = this.land.state()
    this.clearIfReplaced(state)
    const openOffers = showsOffers ? state.openOffers(this.land.clock.nowMs()) : undefined
    const { tag, changedAtMs } = state.freshness(openOffers?.lastExpiryMs)
    return { state, offers: openOffers?.offers, freshness: { tag: `${tag}.${LOOK}`, changedAtMs } }
  }

  /** Empties both caches when the land has another revision. */
  private clearIfReplaced(state: State): void {
    const { tag } = state.freshness()
    if (tag === this.revisionTag) return
    this.revisionTag = tag
    this.pictures.clear()
    this.addresses.clear()
  }

  private cached(cacheKey: string, { tag }: Freshness): Buffer | undefined {
    const picture = this.pictures.get(cacheKey)
    // An offer may have expired since the picture was drawn.
    if (picture?.tag !== tag) return undefined
    this.hits += 1
    return picture.png
  }

  private draw({ state, offers, freshness }: ShownLand, view: View, cacheKey: string): Buffer {
    const { bounds, cells, parcels } = state.parts
    const png = asOwnMemory(renderMap({ bounds, cells, rowAt: parcels.rowAt, offers }, view))
    this.drawn += 1
    this.pictures.set(cacheKey, { tag: freshness.tag, png }, png.length)
    return png
  }

  private cacheAddress(url: string, known: KnownAddress): void {
    if (url.length > MAX_ADDRESS_LENGTH) return
    this.addresses.set(url, known, KNOWN_ADDRESS_BYTES)
  }
}

/** Pixels that are drawn and compressed for one unit. */
const PIXELS_PER_UNIT = 250_000
/** Selected places that are drawn for one unit. */
const SELECTED_PER_UNIT = 100

/** Estimated cost of drawing a picture, in units of one parcel read. */
export function drawingCost({ widthPx, heightPx, selected }: View): number {
  const pixels = (widthPx * heightPx) / PIXELS_PER_UNIT
  return SMALL_ANSWER_UNITS + pixels + selected.length / SELECTED_PER_UNIT
}

/** Equal for two requests exactly when they name the same picture. */
export function cacheKeyOf({ view, showsOffers }: PictureRequest): string {
  const { widthPx, heightPx, sizePx, originXPx, originYPx, theme, selected } = view
  const frame = `${widthPx}x${heightPx}:${sizePx}:${originXPx},${originYPx}`
  return `${frame}:${theme}:${showsOffers ? 'offers' : ''}:${selected.map(coordText).join(';')}`
}

/** Copies a Buffer that is part of a larger one, so that the larger one does not stay in memory. */
function asOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
