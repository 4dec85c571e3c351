import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { LandLink, LandSummary, LandSummaryReading } from '../api/land/land-summary.ts'
import { AppError } from '../errors.ts'
import { publicBase } from '../http/public-base.ts'
import { HIDDEN } from '../http/schemas.ts'
import { send } from '../http/send.ts'
import { tagOf } from '../http/text-tag.ts'
import { withoutTurns } from '../text-direction.ts'
import { type Description, fill, localeOf, shortAddress, withDescription } from './link-description.ts'
import { type Catalogue, LOCALES, type Locale, readCatalogue } from './translations.ts'

export interface MapPageOptions {
  /** The built page. */
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
  /** In place of `headers`, for a page that other websites may show in a frame. */
  readonly embedHeaders: Readonly<Record<string, string>>
  readonly publicUrl: string | undefined
  /** Undefined for a link to no land. @throws {AppError} `world_not_loaded` */
  readonly summaryOf: (link: LandLink) => LandSummaryReading | undefined
}

const HTML = { contentType: 'text/html; charset=utf-8' }
/** The size of the pictures, in the shape that programs show beside a link. */
const PICTURE = { widthPx: 1200, heightPx: 630 }
/** Sides of a parcel in the pictures. */
const PARCEL_PX = { near: 30, district: 8, world: 5 }

/** Filters of the page's address by their names in `/v2/land`; all others have the same name. */
const FILTERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['asset_type', 'status', 'max_plaza', 'max_road', 'nw', 'se', 'owner', 'q', 'sort_by', 'sort_order']
      .concat(['price', 'price_per_parcel', 'rent', 'size'].flatMap((name) => [`min_${name}`, `max_${name}`]))
      .map((name) => [name, name]),
  ),
  in_district: 'district',
}
/** The longest value of a filter that is read. */
const MAX_VALUE_LENGTH = 200

/**
 * Serves the map page at `/` and, for frames of other websites, at `/embed`. Its HTML says what the address shows: programs that show a
 * link with a title and a picture run no script.
 */
export function serveMapPage(app: FastifyInstance, options: MapPageOptions): void {
  const texts = new Map(LOCALES.map((locale) => [locale, readCatalogue(locale)]))
  const htmlTag = tagOf(options.html)
  for (const path of ['/', '/embed']) {
    const headers = path === '/' ? options.headers : options.embedHeaders
    app.get(path, { schema: HIDDEN }, (request: FastifyRequest, reply: FastifyReply) => {
      const locale = localeOf(request)
      const base = publicBase(request, options.publicUrl)
      const { link, query } = readLink(request.query as Query)
      const reading = findSummary(options, link)
      const write = async () => {
        const described = describe(await reading?.read(), texts.get(locale) ?? {}, locale, base)
        return withDescription(options.html, described, `${base}/${reading ? query : ''}`, locale)
      }
      const stateTag = reading?.freshness.tag ?? 'none'
      const freshness = {
        tag: tagOf([htmlTag, locale, base, stateTag, query].join(' ')),
        cacheControl: 'no-cache',
      }
      const cost = reading && { cost: reading.cost }
      return send(request, reply.headers(headers), { freshness, format: HTML, ...cost, body: write })
    })
  }
}

type Query = Readonly<Record<string, string | readonly string[] | undefined>>

/** What an address shows, and the part of it that says so. */
function readLink(given: Query): { readonly link: LandLink; readonly query: string } {
  const say = (name: string) => {
    const value = given[name]
    return typeof value === 'string' && value.length <= MAX_VALUE_LENGTH ? value : ''
  }
  const parcel = /^-?\d{1,7},-?\d{1,7}$/.test(say('parcel')) ? say('parcel') : undefined
  if (parcel !== undefined) return { link: { parcel }, query: `?parcel=${parcel}` }
  const estate = /^\d{1,78}$/.test(say('estate')) ? say('estate') : undefined
  if (estate !== undefined) return { link: { estate }, query: `?estate=${estate}` }
  const district = /^[0-9a-f-]{36}$/.test(say('district')) ? say('district') : undefined
  if (district !== undefined && say('layer') === 'districts')
    return { link: { district }, query: `?layer=districts&district=${district}` }
  const [page, filters] = [new URLSearchParams(), new URLSearchParams()]
  for (const [name, filter] of Object.entries(FILTERS)) {
    if (say(name) === '') continue
    page.set(name, say(name))
    filters.set(filter, say(name))
  }
  return { link: { filters: filters.toString() }, query: page.size > 0 ? `?${page}` : '' }
}

/** Without a world the page is sent all the same: it says so itself. */
function findSummary({ summaryOf }: MapPageOptions, link: LandLink): LandSummaryReading | undefined {
  try {
    return link.filters === '' ? undefined : summaryOf(link)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** @param base of the addresses of pictures */
function describe(
  summary: LandSummary | undefined,
  texts: Catalogue,
  locale: Locale,
  base: string,
): Description {
  const say = (key: string, values: Readonly<Record<string, string>> = {}) => fill(texts[key], values)
  const number = (value: number) => new Intl.NumberFormat(locale).format(value)
  const mapAt = (center: { x: number; y: number } | undefined, parcelPx: number) =>
    picture(`${base}/v2/map.png?${center ? `center=${center.x},${center.y}&` : ''}`, parcelPx)
  switch (summary?.kind) {
    case undefined:
      return {
        title: say('nav.map'),
        text: say('map.welcome'),
        image: mapAt(undefined, PARCEL_PX.world),
      }
    case 'asset': {
      const { row } = summary
      const { asset_type: type, asset_id: id, offer, owner } = row
      const numbered = say(`asset.${type}.numbered`, { id })
      const name = row.name && withoutTurns(row.name).trim()
      const facts = [
        offer
          ? say('filter.is', { name: say('asset.sale'), value: priceText(offer, locale) })
          : say('asset.sale.none'),
        ...(name ? [numbered] : []),
        ...(type === 'estate' ? [say('map.parcels', { count: number(row.size) })] : []),
        ...(summary.district === undefined ? [] : [withoutTurns(summary.district)]),
        ...(owner === null
          ? []
          : [say('filter.is', { name: say('asset.owner'), value: shortAddress(owner) })]),
      ]
      const path = type === 'estate' ? `estates/${id}` : `parcels/${row.x}/${row.y}`
      return {
        title: name || numbered,
        text: facts.join(' · '),
        image: picture(`${base}/v2/${path}/map.png?`, PARCEL_PX.near),
      }
    }
    case 'district': {
      const count = say('map.parcels', { count: number(summary.parcelCount) })
      return {
        title: withoutTurns(summary.name),
        text: `${say('asset.district')} · ${count}`,
        image: mapAt(summary.center, PARCEL_PX.district),
      }
    }
    case 'search': {
      const named = summary.first.map(({ asset_type: type, asset_id: id, name, offer }) => {
        const title = name ? withoutTurns(name) : say(`asset.${type}.numbered`, { id })
        return offer ? `${title}: ${priceText(offer, locale)}` : title
      })
      return {
        title: say('share.found', { count: number(summary.total) }),
        text: named.join(' · ') || say('map.welcome'),
        image: mapAt(summary.center, PARCEL_PX.world),
      }
    }
  }
}

function picture(address: string, parcelPx: number): NonNullable<Description['image']> {
  const { widthPx: width, heightPx: height } = PICTURE
  return { ...PICTURE, address: `${address}width=${width}&height=${height}&size=${parcelPx}&on-sale=true` }
}

type Offer = NonNullable<Extract<LandSummary, { kind: 'asset' }>['row']['offer']>

function priceText({ currency, price, price_usd: dollars }: Offer, locale: Locale): string {
  const amount = Number(currency === 'usd' ? dollars : price)
  const digits = new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }).format(amount)
  return `${digits} ${currency === 'usd' ? 'USD' : 'MANA'}`
}
