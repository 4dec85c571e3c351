import type { Request } from '@landpass/server/test/support/processes/load'
import { Random } from '@landpass/simulators/random'

/** A row of the table: requests, and how much of our CPU time for an answer a bare answer should take at least, on each engine. */
export interface Row {
  readonly name: string
  readonly requests: readonly Request[]
  readonly status: number
  readonly wanted: { readonly postgres: number; readonly embedded: number }
}

export interface Parcel {
  readonly id: string
  readonly x: number
  readonly y: number
  readonly owner: string | null
  readonly estate_id: string | null
}

const KEYS = 2000

/** The rows of the land data interface, with random keys of the imported world. */
export async function landRows(origin: string): Promise<readonly Row[]> {
  const all = await allParcels(origin)
  const random = new Random(1)
  const parcels = Array.from({ length: KEYS }, () => random.pick(all))
  const owners = typicalOwners(all)
  const sold = (await getJson(`${origin}/parcels?status=sold&limit=0`)) as { total: number }
  const sorts = ['price', 'created_at', 'block_time_updated_at', 'expires_at']
  const numbers = Array.from({ length: KEYS }, (_, i) => i)
  const bySql = (wanted: number) => ({ postgres: wanted, embedded: wanted / 2 })
  const rows: Row[] = [
    row(
      '/parcels/:x/:y',
      both(0.45),
      parcels.map(({ x, y }) => `/parcels/${x}/${y}`),
    ),
    row(
      '/parcels/:x/:y/encodedId',
      both(0.5),
      parcels.map(({ x, y }) => `/parcels/${x}/${y}/encodedId`),
    ),
    row(
      '/parcels?status=open',
      both(0.25),
      numbers.map((i) => `/parcels?status=open&offset=${i * 2}&sort_by=${sorts[i % 4]}`),
    ),
    row(
      '/parcels?status=sold',
      bySql(0.04),
      numbers.map(
        (i) => `/parcels?status=sold&offset=${Math.floor((Math.min(sold.total - 20, 20_000) * i) / KEYS)}`,
      ),
    ),
    row(
      '/map of 21 x 21',
      both(0.12),
      parcels.map((parcel) => mapAround(parcel)),
    ),
    row(
      '/addresses/:address/parcels',
      both(0.3),
      numbers.map(() => `/addresses/${random.pick(owners)}/parcels`),
    ),
    row(
      '/districts',
      both(0.45),
      numbers.map((i) => `/districts?n=${i}`),
    ),
    row(
      '/addresses/:address/bids',
      bySql(0.04),
      firstOf(numbers.map(() => `/addresses/${random.pick(owners)}/bids`)),
    ),
    row(
      '/parcels/:x/:y/publications',
      bySql(0.02),
      firstOf(parcels.map(({ x, y }) => `/parcels/${x}/${y}/publications`)),
    ),
  ]
  const first = row(
    '/parcels/:x/:y, first request',
    both(0.3),
    firstOf(parcels.map(({ x, y }) => `/parcels/${x}/${y}`)),
  )
  const compressed = ['/parcels?status=open', '/map of 21 x 21', '/districts'].map((name) =>
    compressedRow(rows.find((one) => one.name === name)!),
  )
  const unchanged = await Promise.all(rows.map((one) => unchangedRow(origin, one)))
  // More than a server knows at a time; half of those for sales are few
  const searches = Array.from({ length: 10 * KEYS }, (_, i) => i)
  const land = row(
    '/v2/land, all kinds of filters and orders',
    both(0.05),
    searches.map((i) => searchOf(random.pick(parcels), i)),
  )
  const sales = row(
    '/v2/sales, all kinds of filters',
    bySql(0.02),
    searches.map((i) => `/v2/sales?${saleFilterOf(random.pick(parcels), i)}`),
  )
  const stats = row(
    '/v2/stats, all kinds of groups and filters',
    both(0.01),
    numbers.map(
      (i) => `/v2/stats?by=${GROUPINGS[i % GROUPINGS.length]}&${saleFilterOf(random.pick(parcels), i)}`,
    ),
  )
  return [...rows, first, ...compressed, ...unchanged, land, sales, stats]
}

export async function allParcels(origin: string): Promise<readonly Parcel[]> {
  const world = (await getJson(`${origin}/map?nw=-150,150&se=150,-150`)) as { assets: { parcels: Parcel[] } }
  return world.assets.parcels
}

/** The same ratio on both engines, for answers that need no query of the database. */
export function both(wanted: number): Row['wanted'] {
  return { postgres: wanted, embedded: wanted }
}

export function row(name: string, wanted: Row['wanted'], paths: readonly string[]): Row {
  return { name, wanted, status: 200, requests: paths.map((path) => ({ path })) }
}

/** More addresses of the same answers than a server knows at a time: it makes each answer anew. */
function firstOf(paths: readonly string[]): string[] {
  return Array.from({ length: 20 * KEYS }, (_, i) => `${paths[i % paths.length]}?n=${i}`)
}

/** The same requests of clients that accept compressed bodies, as most do. */
function compressedRow({ name, requests }: Row): Row {
  const headers = { 'accept-encoding': 'gzip' }
  const some = requests.slice(0, 200).map(({ path }) => ({ path, headers }))
  return { name: `${name}, gzip`, requests: some, status: 200, wanted: both(0.4) }
}

/** The same requests of a client whose cached answers are still valid: 304. */
async function unchangedRow(origin: string, { name, requests }: Row): Promise<Row> {
  const some = requests.slice(0, 200)
  const known: Request[] = []
  for (const { path } of some) {
    const response = await fetch(origin + path)
    await response.arrayBuffer()
    known.push({ path, headers: { 'if-none-match': response.headers.get('etag') ?? '' } })
  }
  return {
    name: `${name}, unchanged`,
    requests: known,
    status: 304,
    wanted: both(0.55),
  }
}

function mapAround({ x, y }: Parcel): string {
  const west = Math.max(-150, Math.min(130, x - 10))
  const north = Math.max(-130, Math.min(150, y + 10))
  return `/map?nw=${west},${north}&se=${west + 20},${north - 20}`
}

const SORTS = [
  'price',
  'price_per_parcel',
  'size',
  'plaza',
  'road',
  'name',
  'listed_at',
  'sold_at',
  'distance',
]
const FILTERS = [
  'status=open',
  'min_price=1000&max_price=50000',
  'max_road=0',
  'min_size=1&max_width=9&min_height=1&min_road=0&inside_estates=true',
  'status=sold,none&facets=price,price_per_parcel,size,plaza,road,district,asset_type',
  'q=old',
  'nw=-150,150&se=150,-150&min_size=1',
]

/** A search with one of the filters; every other one goes over the whole world. */
function searchOf({ x, y }: Parcel, i: number): string {
  const near = i % 2 === 0 ? '&radius=20' : '&radius=500'
  return `/v2/land?center=${x},${y}${near}&sort_by=${SORTS[i % SORTS.length]}&${FILTERS[i % FILTERS.length]}`
}

const GROUPINGS = ['total', 'month', 'week', 'day', 'district', 'plaza', 'road', 'size', 'asset_type']
const SALE_FILTERS = [
  'asset_type=parcel',
  'source=order,bid',
  'min_price=1000&max_price=50000',
  'max_road=0',
  'min_size=2',
  'from=2026-01-01',
  'nw=-150,150&se=150,-150',
]

/** One of the filters of sales; every other one is about land near a parcel. */
function saleFilterOf({ x, y }: Parcel, i: number): string {
  const near = i % 2 === 0 ? `center=${x},${y}&radius=20&` : ''
  return `${near}${SALE_FILTERS[i % SALE_FILTERS.length]}`
}

/** Owners of 2 to 20 parcels, as most owners are. */
function typicalOwners(parcels: readonly Parcel[]): string[] {
  const count = new Map<string, number>()
  for (const { owner } of parcels) if (owner) count.set(owner, (count.get(owner) ?? 0) + 1)
  return [...count].filter(([, held]) => held >= 2 && held <= 20).map(([owner]) => owner)
}

async function getJson(address: string): Promise<unknown> {
  const response = await fetch(address)
  const body = (await response.json()) as { ok: boolean; data: unknown }
  if (!body.ok) throw new Error(`${address} answered ${response.status}`)
  return body.data
}
