import { allParcels, both, drawFrom, type Row, row } from './land-rows.ts'
import { rawLoad } from './raw-load.ts'

const KEYS = 2000
/** Parcels from the middle of an area to its edge: 21 x 21 of them. */
const REACH = 10

/** The rows of the map as data. No window is like another, and the server keeps no answers of them. */
export async function tileRows(origin: string): Promise<readonly Row[]> {
  const draw = drawFrom(2)
  const all = await allParcels(origin)
  const places = Array.from({ length: KEYS }, () => draw(all))
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
    await wholeWorld(origin, 'br', 0.04),
    await wholeWorld(origin, 'gzip', 0.02),
    row(
      '/v2/parcels/:x/:y',
      both(0.45),
      places.map(({ x, y }) => `/v2/parcels/${x}/${y}`),
    ),
  ]
}

/** The whole world, compressed once before: what a server answers that has been asked for it. */
async function wholeWorld(origin: string, coding: string, wanted: number): Promise<Row> {
  const request = { path: '/v2/tiles', headers: { 'accept-encoding': coding } }
  await (await fetch(origin + request.path, { headers: request.headers })).arrayBuffer()
  return {
    name: `/v2/tiles, whole world, ${coding}, warm`,
    requests: [request],
    status: 200,
    wanted: both(wanted),
    load: rawLoad,
  }
}
