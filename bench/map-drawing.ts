import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Coord } from '@landpass/client/grid'
import { engineSettings } from '@landpass/server/cli/open-database'
import { readConfig } from '@landpass/server/config/config'
import { openEngine } from '@landpass/server/db/open-engine'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import type { MapState } from '@landpass/server/map/map-state'
import { renderMap } from '@landpass/server/map/render'
import type { View } from '@landpass/server/map/view'
import { buildState } from '@landpass/server/state/builders/build-state'
import { State } from '@landpass/server/state/state'
import { runCommand } from '@landpass/server/test/support/processes/measured-processes'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'

/**
 * Draws map images in this process, without HTTP, and measures microseconds and bytes of each. Every view of a row has
 * another centre and is drawn several times; the shortest time counts, because other load only makes it longer.
 */

const VIEWS_PER_ROW = 200
const ROUNDS = 15

interface Row {
  readonly name: string
  readonly widthPx: number
  readonly sizePx: number
  readonly withSales?: boolean
  readonly selecting?: 'parcel' | 'estate'
}

const ROWS: readonly Row[] = [
  { name: '500 x 500, size 10', widthPx: 500, sizePx: 10 },
  { name: '500 x 500, size 10, on sale', widthPx: 500, sizePx: 10, withSales: true },
  { name: '500 x 500, size 10, a parcel', widthPx: 500, sizePx: 10, selecting: 'parcel' },
  { name: '500 x 500, size 10, an estate', widthPx: 500, sizePx: 10, selecting: 'estate' },
  { name: '500 x 500, size 5', widthPx: 500, sizePx: 5 },
  { name: '501 x 501, size 7', widthPx: 501, sizePx: 7 },
  { name: '1024 x 1024, size 10', widthPx: 1024, sizePx: 10 },
  { name: '2048 x 2048, size 20', widthPx: 2048, sizePx: 20 },
  { name: '2048 x 2048, size 40', widthPx: 2048, sizePx: 40 },
  { name: '256 x 256, size 1/2', widthPx: 256, sizePx: 1 / 2 },
  { name: '256 x 256, size 1', widthPx: 256, sizePx: 1 },
  { name: '256 x 256, size 2', widthPx: 256, sizePx: 2 },
  { name: '256 x 256, size 4', widthPx: 256, sizePx: 4 },
  { name: '256 x 256, size 8', widthPx: 256, sizePx: 8 },
  { name: '256 x 256, size 32', widthPx: 256, sizePx: 32 },
  { name: '512 x 512, size 4', widthPx: 512, sizePx: 4 },
]

const { values: options } = parseArgs({ options: { data: { type: 'string' } } })
const scratch = mkdtempSync(join(tmpdir(), 'landpass-drawing-'))
try {
  const state = await loadState(options.data ?? (await demoData()))
  const { parcels } = state.parts
  console.log(`${parcels.x.length} parcels, node ${process.version}\n`)
  console.log('| map image | µs, mean | µs, most | bytes, mean | bytes, most |\n|---|---|---|---|---|')
  for (const row of ROWS) console.log(measure(state, row))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

async function demoData(): Promise<string> {
  const folder = join(scratch, 'demo')
  await writeDemoSnapshot(1, folder)
  return folder
}

async function loadState(data: string): Promise<State> {
  const env = { DATA_DIR: join(scratch, 'embedded') }
  await runCommand(['import', data], env)
  const config = readConfig(env)
  const engine = await openEngine(engineSettings(config, 'tool'))
  try {
    const head = await readLandHead(engine.db)
    if (head.worldId === null) throw new Error(`${data} was not loaded`)
    return new State(await buildState(engine.db, config.world, { ...head, worldId: head.worldId }))
  } finally {
    await engine.close()
  }
}

function measure(state: State, row: Row): string {
  const { bounds, cells, parcels } = state.parts
  const offers = row.withSales ? state.openOffers(Date.now()).offers : undefined
  const snapshot: MapState = { bounds, cells, rowAt: parcels.rowAt, offers }
  const views = Array.from({ length: VIEWS_PER_ROW }, (_, i) => viewOf(state, row, i))
  const bytes = views.map((view) => renderMap(snapshot, view).length)
  const best = views.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < ROUNDS; round++) {
    views.forEach((view, i) => {
      const startedMs = performance.now()
      renderMap(snapshot, view)
      best[i] = Math.min(best[i]!, (performance.now() - startedMs) * 1000)
    })
  }
  const figures = [mean(best), Math.max(...best), mean(bytes), Math.max(...bytes)]
  return `| ${row.name} | ${figures.map((figure) => figure.toFixed(0)).join(' | ')} |`
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** A view around one of many parcels all over the world; the first is in its middle. */
function viewOf({ parts }: State, { widthPx, sizePx, selecting }: Row, i: number): View {
  const { x, y, estate } = parts.parcels
  let parcel = Math.floor(x.length / 2 + i * 0.618034 * x.length) % x.length
  while (selecting === 'estate' && estate[parcel]! < 0) parcel = (parcel + 1) % x.length
  const centre = { x: x[parcel]!, y: y[parcel]! }
  const members: Coord[] = []
  if (selecting === 'parcel') members.push(centre)
  if (selecting === 'estate') {
    estate.forEach((one, row) => {
      if (one === estate[parcel]) members.push({ x: x[row]!, y: y[row]! })
    })
  }
  return {
    widthPx,
    heightPx: widthPx,
    sizePx,
    originXPx: Math.floor((widthPx - sizePx) / 2 - centre.x * sizePx),
    originYPx: Math.floor((widthPx - sizePx) / 2 + centre.y * sizePx),
    selected: members,
    theme: 'dark',
  }
}
