import { coordText } from '@landpass/client/grid'
import type { Freshness } from '../../freshness.ts'
import { type Answer, answerHeaders, type Format } from '../../http/answer.ts'
import type { CounterSource, GaugeSource } from '../../http/metrics.ts'
import type { ReadyAnswer } from '../../http/ready-answers.ts'
import { renderMap } from '../../map/render.ts'
import type { View } from '../../map/view.ts'
import type { State } from '../../state/state.ts'
import type { LandContext } from '../common/land-context.ts'
import { BoundedCache } from './bounded-cache.ts'

/** A picture that somebody asked for. */
export interface Wish {
  readonly view: View
  /** Whether what is on sale stands out. */
  readonly showsSales: boolean
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

/** An address exactly as it came, query and all, and the route that answers it. */
export interface AskedAddress {
  readonly route: string
  readonly url: string
}

/** What an address stands for, as long as the land does not change. */
interface KnownAddress {
  readonly route: string
  readonly name: string
  readonly showsSales: boolean
}

/** Some thousand pictures of the usual size. */
const PICTURES_BYTES = 16 * 1024 * 1024
const ADDRESSES_BYTES = 512 * 1024
/** Longer ones hold hundreds of selected parcels: whoever sends such a thing draws more than he asks again. */
const MAX_ADDRESS_LENGTH = 512
const KNOWN_ADDRESS_BYTES = 64

/** Raised when a picture of the same land looks different: a reader's copy of the old look is then no longer right. */
const LOOK = 'look1'
const PNG: Format = { contentType: 'image/png', saysVary: false }

/**
 * Draws pictures and keeps those of the current revision, by what they show: addresses that mean the same share one.
 * Which address means which picture is remembered too, so that the second request for it needs no reading.
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

  /** The answer to a wish, whose picture is drawn when its body is asked for: the address is remembered then. */
  answer(wish: Wish, address: AskedAddress): Answer {
    const land = this.shown(wish.showsSales)
    const body = () => {
      const name = nameOf(wish)
      const png = this.kept(name, land.freshness) ?? this.draw(land, wish.view, name)
      this.remember(address.url, { route: address.route, name, showsSales: wish.showsSales })
      return png
    }
    return { freshness: land.freshness, format: PNG, body }
  }

  /** The answer for an address that was answered before, if its picture is there. */
  findReady(url: string): ReadyAnswer | undefined {
    const known = this.addresses.get(url)
    if (!known) return undefined
    const { freshness } = this.shown(known.showsSales)
    const png = this.kept(known.name, freshness)
    if (!png) return undefined
    return { route: known.route, headers: answerHeaders({ freshness, format: PNG }), body: png }
  }

  get gauges(): readonly GaugeSource[] {
    return [
      {
        name: 'landpass_picture_cache_bytes',
        help: 'Memory of the pictures that are kept.',
        read: () => this.pictures.bytes,
      },
      {
        name: 'landpass_picture_cache_entries',
        help: 'Pictures that are kept.',
        read: () => this.pictures.size,
      },
    ]
  }

  get counters(): readonly CounterSource[] {
    return [
      {
        name: 'landpass_picture_cache_hits_total',
        help: 'Pictures that were answered without drawing.',
        read: () => this.hits,
      },
      {
        name: 'landpass_picture_cache_misses_total',
        help: 'Pictures that had to be drawn.',
        read: () => this.drawn,
      },
    ]
  }

  /** What every picture of this moment shows. */
  private shown(showsSales: boolean): ShownLand {
    const state = this.land.state()
    this.follow(state)
    const sales = showsSales ? state.openOffers(this.land.clock.nowMs()) : undefined
    const { tag, changedAtMs } = state.freshness(sales?.lastExpiryMs)
    return { state, offers: sales?.offers, freshness: { tag: `${tag}.${LOOK}`, changedAtMs } }
  }

  /** Lets go of all that belongs to another revision. */
  private follow(state: State): void {
    const { tag } = state.freshness()
    if (tag === this.revisionTag) return
    this.revisionTag = tag
    this.pictures.clear()
    this.addresses.clear()
  }

  private kept(name: string, { tag }: Freshness): Buffer | undefined {
    const picture = this.pictures.get(name)
    // What was on sale when it was drawn may have expired since.
    if (picture?.tag !== tag) return undefined
    this.hits += 1
    return picture.png
  }

  private draw({ state, offers, freshness }: ShownLand, view: View, name: string): Buffer {
    const { bounds, cells, parcels } = state.parts
    const png = asOwnMemory(renderMap({ bounds, cells, rowAt: parcels.rowAt, offers }, view))
    this.drawn += 1
    this.pictures.set(name, { tag: freshness.tag, png }, png.length)
    return png
  }

  private remember(url: string, known: KnownAddress): void {
    if (url.length > MAX_ADDRESS_LENGTH) return
    this.addresses.set(url, known, KNOWN_ADDRESS_BYTES)
  }
}

/** Equal for wishes of the same picture, and only for them. */
export function nameOf({ view, showsSales }: Wish): string {
  const { widthPx, heightPx, sizePx, originXPx, originYPx, theme, selected } = view
  const frame = `${widthPx}x${heightPx}:${sizePx}:${originXPx},${originYPx}`
  return `${frame}:${theme}:${showsSales ? 'sales' : ''}:${selected.map(coordText).join(';')}`
}

/** A short Buffer is often a piece of a larger one, which would be kept as a whole. */
function asOwnMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
