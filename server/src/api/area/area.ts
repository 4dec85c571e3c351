import type { Area, World } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, DATA } from '../../http/answer.ts'
import { send } from '../../http/send.ts'
import { invalidParameter } from '../../http/validation.ts'
import type { JsonPieces } from '../../land/records/json.ts'
import type { RowRange, State } from '../../state/state.ts'
import { arrayPieces, assetsAnswer, CLOSE, OPEN } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import type { LandMoment } from '../common/land-moment.ts'
import { readCoordinates } from '../common/parameters.ts'

/** Reads the corners of an area. @throws {AppError} `invalid_parameter` */
export function readArea(world: World, query: { readonly nw: string; readonly se: string }): Area {
  const nw = readCoordinates(world, 'nw', query.nw)
  const se = readCoordinates(world, 'se', query.se)
  if (nw.x <= se.x && nw.y >= se.y) return { minX: nw.x, maxX: se.x, minY: se.y, maxY: nw.y }
  throw invalidParameter(
    'nw',
    query.nw,
    `north-west of se (${query.se}): its x not greater, its y not smaller`,
  )
}

/** The rows of an area at a moment. */
interface AreaView extends LandMoment {
  readonly runs: readonly RowRange[]
  readonly parcelCount: number
}

/** The form of an answer about an area. Without estates, the answer does not change when an estate's offer expires. */
interface AreaForm {
  /** The name of the whole world in the cache of bodies. */
  readonly name: string
  readonly withEstates: boolean
  readonly start: Buffer
  /** What follows the parcels. */
  end(view: AreaView): Iterable<Uint8Array>
}

export function answerArea(
  request: FastifyRequest,
  reply: FastifyReply,
  land: LandContext,
  area: Area,
  form: AreaForm,
) {
  return send(request, reply, () => areaAnswer(land, area, form))
}

function areaAnswer(land: LandContext, area: Area, form: AreaForm): Answer {
  const cachedAs = { bodies: land.bodies, name: form.name }
  const moment = land.moment()
  const { state, nowMs } = moment
  const { runs, parcelCount } = viewOf(moment, area)
  const freshness = state.freshness(state.areaExpiry(runs, nowMs, form))
  const isWorld = parcelCount === state.parts.parcels.inWorld
  // The rows are found anew for the body: the answer may be held, and they take memory.
  const pieces = () => areaPieces(viewOf(moment, area), form)
  const atOnce = () => areaPiecesAtOnce(viewOf(moment, area), form)
  return {
    freshness,
    format: DATA,
    ...assetsAnswer(parcelCount, pieces, isWorld ? cachedAs : undefined, atOnce),
    moment,
  }
}

function* areaPieces(view: AreaView, form: AreaForm): Generator<Uint8Array> {
  yield form.start
  yield* arrayPieces(parcelsInParts(view))
  yield* form.end(view)
}

/** The pieces of so many rows are made at once. */
const ROWS_AT_ONCE = 1024

function* parcelsInParts({ state, runs, nowMs }: AreaView): Generator<JsonPieces> {
  for (const run of runs)
    for (let { from } = run; from < run.to; from += ROWS_AT_ONCE)
      yield state.parcelRunPieces([{ from, to: Math.min(run.to, from + ROWS_AT_ONCE) }], nowMs)
}

/** Without generators for the parcels, which would take a tenth of the CPU time of an answer. */
function areaPiecesAtOnce(view: AreaView, { start, end }: AreaForm): Uint8Array[] {
  return [start, OPEN, ...view.state.parcelRunPieces(view.runs, view.nowMs), CLOSE, ...end(view)]
}

/** `/map`: the parcels and the estates of the area. */
export const MAP_FORM: AreaForm = {
  name: 'map',
  withEstates: true,
  start: Buffer.from('{"assets":{"parcels":'),
  *end({ state, runs, nowMs, parcelCount }) {
    const rows = estatesIn(state, runs)
    yield Buffer.from(',"estates":')
    yield* arrayPieces(rows.map((row) => state.estatePieces(row, nowMs)))
    yield Buffer.from(`},"total":${parcelCount + rows.length}}`)
  },
}

/** `/parcels` with corners: only the parcels. */
export const PARCELS_FORM: AreaForm = {
  name: 'parcels of the world',
  withEstates: false,
  start: Buffer.from('{"parcels":'),
  end: ({ parcelCount }) => [Buffer.from(`,"total":${parcelCount}}`)],
}

function viewOf(moment: LandMoment, area: Area): AreaView {
  const runs = moment.state.rowsIn(area)
  const parcelCount = runs.reduce((sum, { from, to }) => sum + to - from, 0)
  return { ...moment, runs, parcelCount }
}

/** The estates that have a parcel in some runs of rows, by id. */
function estatesIn(state: State, runs: readonly RowRange[]): number[] {
  const { estate } = state.parts.parcels
  const estates = new Set<number>()
  let previous = -1
  for (const { from, to } of runs) {
    for (let row = from; row < to; row++) {
      // Neighbours are mostly in the same estate: comparing with the previous row first halves the time.
      if (estate[row] === previous) continue
      previous = estate[row]!
      if (previous >= 0) estates.add(previous)
    }
  }
  return [...estates].sort((a, b) => a - b)
}
