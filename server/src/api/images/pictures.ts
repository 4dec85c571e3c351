import { BoundedCache } from '../../bounded-cache.ts'
import type { Freshness } from '../../freshness.ts'
import { type Answer, answerHeaders, type Format } from '../../http/answer.ts'
import { SMALL_ANSWER_UNITS } from '../../http/cost-account.ts'
import type { HeaderList } from '../../http/cross-origin.ts'
import type { CounterSource, GaugeSource } from '../../http/metrics.ts'
import { type ReadyAnswer, readyAnswer } from '../../http/ready-answers.ts'
import { digestOf } from '../../map/land-digest.ts'
import { ownBytes } from '../../own-memory.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { landAssetsOf } from '../../state/parts/land-assets.ts'
import { type UnlistedNow, unlistedAt } from '../../state/parts/unlisted-offers.ts'
import type { State } from '../../state/state.ts'
import type { LandContext } from '../common/land-context.ts'

/** Which offers a picture shows: it changes when one of them expires. */
export interface ShownOffers {
  readonly showsOffers: boolean
  /** Whether land with an open offer to rent it looks as if it were for sale. */
  readonly showsRentals: boolean
}

/** A picture that is requested. */
export interface PictureRequest extends ShownOffers {
  /** Equal for two requests exactly when they name the same picture. */
  cacheKey(): string
  /** A hash of what it shows: equal for two states in which it looks the same. Much cheaper than drawing it. */
  digest(land: ShownLand): string
  /** Estimated cost of drawing it, in units of one parcel read. */
  cost(): number
  draw(land: ShownLand): Buffer
}

/** The land as pictures of one time show it. */
export interface ShownLand {
  readonly state: State
  /** Per parcel row a number from 0 on where an offer is shown, else -1; undefined for pictures without offers. */
  readonly offers: Int32Array | undefined
  /** Changes with every change of the land, and of the offers that are shown. */
  readonly tag: string
  readonly changedAtMs: number
}

/** A drawn picture. */
interface Picture {
  /** The tag of the newest land of which it is known that the picture looks like this: see {@link ShownLand}. */
  landTag: string
  /** The ETag, which is made of what the picture shows. */
  readonly tag: string
  readonly png: Buffer
  /** Its ready answer, without headers of an address; undefined until it is requested again. */
  ready: ReadyAnswer | undefined
}

/** An address exactly as it was requested, with its query, and the group of the route that answers it. */
export interface RequestedAddress {
  readonly group: string
  readonly url: string
}

/** The picture that an address names, until the land changes. */
interface KnownAddress extends ShownOffers {
  readonly group: string
  /** Key of the picture in its cache. */
  readonly cacheKey: string
  readonly headers: HeaderList
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
 * Draws pictures and caches them. Addresses that name the same picture share it. A second cache holds the picture of
 * each address, so that a repeated request needs no parsing; it is emptied when the land changes, because an address may
 * then name another picture. Pictures are kept: most changes of the land change none of them.
 */
export class Pictures {
  private readonly land: Pick<LandContext, 'state' | 'clock' | 'mapCacheControl'>
  private readonly pictures = new BoundedCache<Picture>(PICTURES_BYTES)
  private readonly addresses = new BoundedCache<KnownAddress>(ADDRESSES_BYTES)
  /** The revision that the addresses belong to. */
  private revisionTag = ''
  private hits = 0
  private drawn = 0

  constructor(land: Pick<LandContext, 'state' | 'clock' | 'mapCacheControl'>) {
    this.land = land
  }

  /**
   * The answer to a request. Its body takes the picture from the cache or draws it, and caches the address.
   *
   * @param headers of this address, besides those of all pictures: the route sets them too
   */
  answer(request: PictureRequest, address: RequestedAddress, headers: HeaderList = []): Answer {
    const land = this.shownLand(request)
    const cacheKey = request.cacheKey()
    const cached = this.pictures.get(cacheKey)
    const tag =
      cached?.landTag === land.tag ? cached.tag : `${digestOf(cacheKey, request.digest(land))}.${LOOK}`
    const picture = cached?.tag === tag ? cached : undefined
    if (picture && picture.landTag !== land.tag) {
      picture.landTag = land.tag
      picture.ready = undefined // its Last-Modified is that of the land
    }
    return {
      freshness: this.freshnessOf(tag, land),
      format: PNG,
      // Not computed for a client whose copy is current
      get cost() {
        return picture ? SMALL_ANSWER_UNITS : request.cost()
      },
      body: () => {
        const { group, url } = address
        const { showsOffers, showsRentals } = request
        if (url.length <= MAX_ADDRESS_LENGTH)
          this.addresses.set(
            url,
            { group, cacheKey, showsOffers, showsRentals, headers },
            cacheKey.length + KNOWN_ADDRESS_BYTES,
          )
        if (!picture) return this.draw(request, land, cacheKey, tag)
        this.hits += 1
        return picture.png
      },
    }
  }

  /** The ready answer for an address that was requested before, if its picture is cached. */
  findReady(url: string): ReadyAnswer | undefined {
    const known = this.addresses.get(url)
    if (!known) return undefined
    const land = this.shownLand(known)
    const picture = this.pictures.get(known.cacheKey)
    // The land may have changed, or an offer expired, since the picture was drawn.
    if (picture?.landTag !== land.tag) return undefined
    this.hits += 1
    const { group, headers } = known
    picture.ready ??= readyAnswer({
      group,
      headers: answerHeaders({ freshness: this.freshnessOf(picture.tag, land), format: PNG }),
      body: picture.png,
    })
    const { head, body } = picture.ready
    return { group, head: headers.length === 0 ? head : [...head, ...headers], body }
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
  private shownLand({ showsOffers, showsRentals }: ShownOffers): ShownLand {
    const state = this.land.state()
    this.forgetAddressesOf(state)
    const nowMs = this.land.clock.nowMs()
    const openOffers = showsOffers ? state.openOffers(nowMs) : undefined
    const rentals = showsRentals ? unlistedAt(state.parts, landAssetsOf(state.parts), nowMs) : undefined
    const lastExpiryMs = Math.max(openOffers?.lastExpiryMs ?? 0, rentals?.lastExpiryMs ?? 0)
    return {
      state,
      // Not joined for a picture that is cached
      get offers() {
        return rentals ? withRentals(state, openOffers?.offers, rentals) : openOffers?.offers
      },
      ...state.freshness(lastExpiryMs),
    }
  }

  /** Empties the cache of addresses when the land has another revision. */
  private forgetAddressesOf(state: State): void {
    const { tag } = state.freshness()
    if (tag === this.revisionTag) return
    this.revisionTag = tag
    this.addresses.clear()
  }

  private freshnessOf(tag: string, { changedAtMs }: ShownLand): Freshness {
    return { tag, changedAtMs, cacheControl: this.land.mapCacheControl }
  }

  private draw(request: PictureRequest, land: ShownLand, cacheKey: string, tag: string): Buffer {
    const png = ownBytes(request.draw(land))
    this.drawn += 1
    this.pictures.set(cacheKey, { landTag: land.tag, tag, png, ready: undefined }, png.length)
    return png
  }
}

/** The offers with the land that is offered for rent; an estate counts for all of its parcels. */
function withRentals(
  { parts: { parcels, estates } }: State,
  sales: Int32Array | undefined,
  { rentals }: UnlistedNow,
): Int32Array {
  const offers = sales?.slice() ?? new Int32Array(parcels.x.length).fill(-1)
  for (const asset of rentals.keys()) {
    const parcel = asset - estates.ids.length
    for (const row of parcel < 0 ? rowsOfEstate(parcels.estate, asset) : [parcel]) offers[row] = 0
  }
  return offers
}
