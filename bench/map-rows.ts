import { Random } from '@landpass/simulators/random'
import { allParcels, both, type Parcel, type Row, row } from './land-rows.ts'

/** More than the map images that the server caches: a repeated request finds its image no longer cached. */
const IMAGES = 20_000
const SIZES = Array.from({ length: 36 }, (_, i) => i + 5)
const THEMES = ['dark', 'light'] as const

const COLD = 0.05
const WARM = 0.65

/**
 * The rows of map images. Cold: all requests differ, so each image is drawn. Warm: always the same request. The names
 * have the width of the image and the size of a parcel.
 */
export async function mapRows(origin: string): Promise<readonly Row[]> {
  const parcels = await allParcels(origin)
  return [
    row('/map.png 500/10, cold', both(0.06), aroundAnyParcel(parcels, 500, 10)),
    row('/map.png 1024/10, cold', both(0.03), aroundAnyParcel(parcels, 1024, 10)),
    row('/v2/map.png 1024/20, cold', both(0.03), inNewerForm(aroundAnyParcel(parcels, 1024, 20))),
    row('/map.png 2048/20, cold', both(0.01), aroundAnyParcel(parcels, 2048, 20)),
    row('/parcels/:x/:y/map.png, cold', both(COLD), ofAnyParcel(parcels)),
    row('/estates/:id/map.png, cold', both(COLD), ofAnyEstate(parcels)),
    row('/tiles/:z/:x/:y.png, cold', both(0.08), anyTile()),
    row('/map.png 500/10, warm', both(WARM), ['/map.png']),
    row('/map.png 1024/10, warm', both(WARM), ['/map.png?width=1024&height=1024']),
    row('/map.png 2048/20, warm', both(WARM), ['/map.png?width=2048&height=2048&size=20']),
    row('/parcels/:x/:y/map.png, warm', both(WARM), ['/parcels/20/30/map.png']),
    row('/estates/:id/map.png, warm', both(WARM), ofAnyEstate(parcels).slice(0, 1)),
    row('/tiles/:z/:x/:y.png, warm', both(WARM), ['/tiles/3/4/4.png']),
  ]
}

function aroundAnyParcel(parcels: readonly Parcel[], widthPx: number, sizePx: number): string[] {
  const drawn = anyOf(parcels, IMAGES / THEMES.length)
  const frame = `width=${widthPx}&height=${widthPx}&size=${sizePx}`
  return THEMES.flatMap((theme) => drawn.map(({ id }) => `/map.png?${frame}&center=${id}&theme=${theme}`))
}

/** Without themes, which the newer images do not have: half of the addresses are left. */
function inNewerForm(addresses: readonly string[]): string[] {
  return addresses.filter((one) => one.includes('theme=dark')).map((one) => `/v2${one}`)
}

function ofAnyParcel(parcels: readonly Parcel[]): string[] {
  return anyOf(parcels, IMAGES).map(({ x, y }) => `/parcels/${x}/${y}/map.png`)
}

function ofAnyEstate(parcels: readonly Parcel[]): string[] {
  const ids = [...new Set(parcels.flatMap(({ estate_id }) => estate_id ?? []))]
  const all = SIZES.flatMap((size) => ids.map((id) => `/estates/${id}/map.png?size=${size}`))
  return anyOf(all, IMAGES)
}

/** The image tiles of the usual world from zoom 2 on, in both themes, with and without offers. */
function anyTile(): string[] {
  const styles = THEMES.flatMap((theme) => [`theme=${theme}`, `theme=${theme}&publications=true`])
  const addresses: string[] = []
  for (let z = 2; z <= 7; z++) {
    const first = Math.floor((2 ** z * (256 - 150)) / 512)
    const last = Math.floor((2 ** z * (256 + 150)) / 512)
    for (let x = first; x <= last; x++)
      for (let y = first; y <= last; y++) addresses.push(`/tiles/${z}/${x}/${y}.png`)
  }
  const all = styles.flatMap((style) => addresses.map((address) => `${address}?${style}`))
  return anyOf(all, all.length) // tiles are small, so more of them are cached
}

/** At most `count` items of a list, each once, in a random order that is the same in every run. */
function anyOf<T>(list: readonly T[], count: number): T[] {
  const random = new Random(1)
  const order = list.map((one) => ({ one, at: random.pick(RANKS) })).sort((a, b) => a.at - b.at)
  return order.slice(0, count).map(({ one }) => one)
}

const RANKS = Array.from({ length: 1 << 16 }, (_, i) => i)
