import { BoundedCache } from '../../bounded-cache.ts'
import type { Answer, Format } from '../../http/answer.ts'
import { READY_ANSWER_UNITS } from '../../http/cost-account.ts'
import type { HeaderList } from '../../http/cross-origin.ts'
import type { CounterSource, GaugeSource } from '../../http/metrics.ts'
import { digestOf } from '../../map/land-digest.ts'
import { ownBytes } from '../../own-memory.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { landAssetsOf } from '../../state/parts/land-assets.ts'
import { type UnlistedNow, unlistedAt } from '../../state/parts/unlisted-offers.ts'
import type { State } from '../../state/state.ts'
import type { LandContext } from '../common/land-context.ts'
import type { LandMoment } from '../common/land-moment.ts'

/** Which offers a picture shows: it changes when one of them expires. */
export interface ShownOffers {
  readonly showsOffers: boolean
  /** Whether land with an open offer to rent it looks as if it were for sale. */
  readonly showsRentals: boolean
}

/** A picture that is requested. */
export interface PictureRequest extends ShownOffers {
  /** Equal for two requests exactly when they name the same picture. */
  readonly cacheKey: string
  /** Memory that this object holds. */
  readonly bytes: number
  /** A short text of what it shows: equal for two states in which it looks the same. Much cheaper than drawing it. */
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
}

/** Some thousand pictures of the default size. */
const PICTURES_BYTES = 16 * 1024 * 1024

/** Larger pictures are not held with their answers (http/held-answers.ts), where they would displace lists. */
const HELD_UP_TO_BYTES = 16 * 1024

/** Part of the ETag. Change it when the drawing changes, so that clients replace their copies. */
const LOOK = 'look1'
const PNG: Format = { contentType: 'image/png', hasVaryHeader: false }

/**
 * Draws pictures and caches them. Addresses that name the same picture share it. They are kept when the land changes: most
 * changes of the land change none of them.
 */
export class Pictures {
  private readonly land: Pick<LandContext, 'moment' | 'mapCacheControl'>
  private readonly pictures = new BoundedCache<Picture>(PICTURES_BYTES)
  private hits = 0
  private drawn = 0

  constructor(land: Pick<LandContext, 'moment' | 'mapCacheControl'>) {
    this.land = land
  }

  /**
   * The answer to a request. Its body takes the picture from the cache or draws it.
   *
   * @param headers besides those of all pictures
   */
  answer(request: PictureRequest, headers: HeaderList = []): Answer {
    const moment = this.land.moment()
    const land = shownLand(moment, request)
    const { cacheKey } = request
    const cached = this.pictures.get(cacheKey)
    const tag =
      cached?.landTag === land.tag ? cached.tag : `${digestOf(`${cacheKey} ${request.digest(land)}`)}.${LOOK}`
    // Looked up each time: an answer that is held must not keep a picture that the cache has dropped
    const pictureNow = () => {
      const now = this.pictures.get(cacheKey)
      return now?.tag === tag ? now : undefined
    }
    const picture = pictureNow()
    if (picture) picture.landTag = land.tag
    const isHeld = picture !== undefined && picture.png.length <= HELD_UP_TO_BYTES
    return {
      freshness: { tag, changedAtMs: land.changedAtMs, cacheControl: this.land.mapCacheControl },
      format: PNG,
      headers,
      // Not read for a client whose copy is current. Read for each other one, so that the picture of a held answer stays in the cache
      get cost() {
        return pictureNow() || isHeld ? READY_ANSWER_UNITS : request.cost()
      },
      ...(isHeld && { moment }),
      body: () => {
        const { png } = pictureNow() ?? {}
        if (!png) return this.draw(request, land, tag)
        this.hits += 1
        return png
      },
    }
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
        help: 'Answers that were made with a picture of the cache. One that is held for later requests is counted once.',
        read: () => this.hits,
      },
      {
        name: 'landpass_picture_cache_misses_total',
        help: 'Pictures that were drawn.',
        read: () => this.drawn,
      },
    ]
  }

  private draw(request: PictureRequest, land: ShownLand, tag: string): Buffer {
    const png = ownBytes(request.draw(land))
    this.drawn += 1
    this.pictures.set(request.cacheKey, { landTag: land.tag, tag, png }, png.length)
    return png
  }
}

function shownLand({ state, nowMs }: LandMoment, { showsOffers, showsRentals }: ShownOffers): ShownLand {
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
