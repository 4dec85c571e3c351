import { Random } from '@landpass/simulators/random'
import { allParcels, both, type Row, row } from './land-rows.ts'

const KEYS = 2000
/** Parcels from the middle of an area to its edge: 21 x 21 of them. */
const REACH = 10
/** Search texts: some occur in a thousand names, some in none. */
const TEXTS = ['old', 'caf', 'tow', 'arc', 'lib', '城', 'zzz', 'gar']

/** The rows of tile data and search. All areas differ, and the server does not cache their answers. */
export async function tileRows(origin: string): Promise<readonly Row[]> {
  const random = new Random(2)
  const all = await allParcels(origin)
  const places = Array.from({ length: KEYS }, () => random.pick(all))
  const windows = places.map(({ x, y }) => `x1=${x - REACH}&y1=${y - REACH}&x2=${x + REACH}&y2=${y + REACH}`)
  return [
    row(
      '/v2/tiles of 21 x 21',
      both(0.2),
      windows.map((area) => `/v2/tiles?${area}`),
    ),
    row(
      '/v1/tiles of 21 x 21',
      both(0.05),
      windows.map((area) => `/v1/tiles?${area}`),
    ),
    await wholeWorld(origin, '/v2/tiles', 'br', 0.04),
    await wholeWorld(origin, '/v2/tiles', 'gzip', 0.02),
    await wholeWorld(origin, '/v2/offers', 'gzip', 0.3),
    row(
      '/v2/parcels/:x/:y',
      both(0.35), // it writes addresses with the host that the client names
      places.map(({ x, y }) => `/v2/parcels/${x}/${y}`),
    ),
    row(
      '/v2/search',
      both(0.1),
      TEXTS.map((text) => `/v2/search?q=${encodeURIComponent(text)}`),
    ),
  ]
}

/** Windows of a world of ten times the size, which are no longer cached when they are asked for again: a third of a cached one. */
export function firstWindows(): Row {
  const paths: string[] = []
  for (let x = -476; x + 2 * REACH <= 475; x += 2 * REACH + 1)
    for (let y = -476; y + 2 * REACH <= 475; y += 2 * REACH + 1)
      paths.push(`/v2/tiles?x1=${x}&y1=${y + 2 * REACH}&x2=${x + 2 * REACH}&y2=${y}`)
  return row('/v2/tiles of 21 x 21, first time', both(0.2 / 3), paths)
}

/** The whole world; its compressed answer is cached by one request before the measurement. */
async function wholeWorld(origin: string, path: string, encoding: string, wanted: number): Promise<Row> {
  const request = { path, headers: { 'accept-encoding': encoding } }
  await (await fetch(origin + request.path, { headers: request.headers })).arrayBuffer()
  return {
    name: `${path}, whole world, ${encoding}, warm`,
    requests: [request],
    status: 200,
    wanted: both(wanted),
  }
}
