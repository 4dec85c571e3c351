import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import { type Answer, DATA, type Format, streamed } from '../../http/answer.ts'
import { publicBase } from '../../http/public-base.ts'
import type { Routes } from '../../http/routes.ts'
import { formatSchema, freshSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import type { NumberSet } from '../../state/parts/number-set.ts'
import { assetsCost } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { QUERY_BYTES, strictQuery, wordsOf, wordsQuery } from '../common/land-filters.ts'
import type { LandMoment } from '../common/land-moment.ts'
import { cursorQuery } from '../common/list-cursor.ts'
import { filePieces, type RowFormat } from '../common/row-files.ts'
import { nameOfNumber } from './asset-numbers.ts'
import { landCells } from './land-cells.ts'
import { cursorText, readCursor } from './land-cursor.ts'
import { landFacets } from './land-facets.ts'
import { type FeedFacts, landAtom, landCalendar } from './land-feeds.ts'
import { findAssets, findCost } from './land-find.ts'
import { LAND_CSV, LAND_GEOJSON, LAND_NDJSON, rowOf } from './land-formats.ts'
import {
  FACETS,
  type FacetName,
  type FilterQuery,
  filterQuery,
  includeQuery,
  keptQuery,
  readLandQuery,
} from './land-query.ts'
import { landCellsSchema, landPageSchema } from './land-row-shapes.ts'
import { LandRowTexts } from './land-row-texts.ts'
import { type LandOrder, landOrder, type SortPlace } from './land-sorts.ts'
import { type LandView, landViewOf, lastEndOf } from './land-view.ts'

/** Rows of a page that are written, compressed and sent for one unit. */
const ROWS_PER_UNIT = 25
/** Runs of cells that are written, compressed and sent for one unit. */
const RUNS_PER_UNIT = 500
const MAX_LIMIT = 1000
/** An Atom feed has the first rows of its query: the newest, unless it has another order. */
const FEED_ROWS = 100
/** Rows of a file that are sorted at once. */
const SORTED_ROWS = 4_096

/** The parameters of a page that do not say which page it is. Files take them all, so that each search is also a file. */
const searchQuery = {
  ...filterQuery,
  ...includeQuery,
  facets: wordsQuery(FACETS, {
    title: 'LandFacets',
    description: 'Counts of all rows by class, beside the rows. Files have none.',
  }),
}
const fileQuery = strictQuery(searchQuery)
const pageQuery = strictQuery({
  ...searchQuery,
  limit: Type.Integer({
    title: 'LandLimit',
    minimum: 1,
    maximum: MAX_LIMIT,
    default: 20,
    description: 'Rows on a page.',
  }),
  cursor: cursorQuery('LandCursor'),
})

/** `GET /land` and its files: parcels and estates by all that is known of them (docs/find-land.md). */
export const landRoutes: Routes<{
  land: LandContext
  settings: { readonly publicUrl: string | undefined }
}> = (app, { land, settings }) => {
  const rowTexts = new LandRowTexts()
  app.get(
    '/land',
    {
      schema: {
        tags: ['land'],
        operationId: 'findLand',
        summary: 'Parcels and estates, filtered and sorted, in pages',
        description:
          'A parameter that is not listed here is refused, and so are parameters that contradict each other: see docs/find-land.md.',
        querystring: pageQuery,
        responses: freshSchema(landPageSchema, ['invalid_parameter']),
      },
    },
    (request, reply) => {
      const { limit, cursor, facets, ...given } = request.query
      const { query: carried, place } =
        cursor === undefined ? { query: given, place: undefined } : readCursor(cursor, { ...given, facets })
      const query = readLandQuery(carried)
      const answer = (): Answer => {
        const moment = land.moment()
        const view = landViewOf(moment.state, land.registries, moment.nowMs)
        const freshness = moment.state.freshness(lastEndOf(view))
        const cost = findCost(view) + limit / ROWS_PER_UNIT
        return { freshness, format: DATA, cost, body: () => pageOf(moment, freshness.tag), moment }
      }
      const pageOf = async ({ state, nowMs }: LandMoment, tag: string) => {
        const view = landViewOf(state, land.registries, nowMs)
        const assets = await findAssets(state, view, query)
        const order = landOrder(view, query)
        const { assets: rows, hasMore } = order.first(assets, limit, place)
        const next = hasMore ? cursorText(carried, placeOf(view, order, rows.at(-1)!)) : null
        const counts = wordsOf<FacetName>(facets)
        const texts = carried.include
          ? rows.map((asset) => JSON.stringify(rowOf(view, asset, true)))
          : rowTexts.textsOf(tag, view, rows)
        const others = JSON.stringify({
          total: assets.count(),
          limit,
          cursor: next,
          ...(counts && { facets: landFacets(view, assets, counts) }),
        })
        return `{"land":[${texts.join(',')}],${others.slice(1)}`
      }
      return send(request, reply, answer, QUERY_BYTES)
    },
  )

  app.get(
    '/land/cells',
    {
      schema: {
        tags: ['land'],
        operationId: 'landCells',
        summary: 'The cells of all land that fits, for maps',
        description: 'Cells are numbered as in the feed: see docs/find-land.md.',
        querystring: strictQuery(keptQuery),
        responses: freshSchema(landCellsSchema, ['invalid_parameter']),
      },
    },
    (request, reply) => {
      const query = readLandQuery(request.query)
      const state = land.state()
      const view = landViewOf(state, land.registries, land.clock.nowMs())
      const body = async () => {
        const assets = await findAssets(state, view, query)
        const runs = landCells(view, assets.list())
        request.costAccount?.settle(cost + runs.length / 2 / RUNS_PER_UNIT)
        return JSON.stringify({ total: assets.count(), runs })
      }
      const freshness = state.freshness(lastEndOf(view))
      const cost = findCost(view)
      return send(request, reply, { freshness, format: DATA, cost, body })
    },
  )

  const fileSchema = (contentType: string, operationId: string, summary: string) => ({
    tags: ['land'],
    operationId,
    summary,
    responses: formatSchema(contentType, { description: 'All rows, in their order.', body: Type.String() }, [
      'invalid_parameter',
      'too_many_large_answers',
    ]),
  })

  const answerFile = (
    request: FastifyRequest,
    reply: Parameters<typeof send>[1],
    given: FilterQuery,
    formatOf: (view: LandView, facts: FeedFacts) => RowFormat<number>,
    maxRows = Number.POSITIVE_INFINITY,
  ) => {
    const query = readLandQuery(given)
    const state = land.state()
    const view = landViewOf(state, land.registries, land.clock.nowMs())
    const base = publicBase(request, settings.publicUrl)
    const self = new URL(request.url, base).href
    const format = formatOf(view, { base, self, changedAtMs: state.changedAtMs })
    const body = async () => {
      const assets = await findAssets(state, view, query)
      const order = landOrder(view, query)
      const count = Math.min(assets.count(), maxRows)
      const pieces = () => filePieces(format, inOrder(view, assets, order, maxRows))
      return streamed(pieces, findCost(view) + assetsCost(count))
    }
    const freshness = state.freshness(lastEndOf(view))
    return send(request, reply, { freshness, format: headersOf(format), cost: findCost(view), body })
  }

  const rowFiles = [
    ['/land.csv', LAND_CSV, fileSchema('text/csv', 'landCsv', 'Land as a table')],
    ['/land.ndjson', LAND_NDJSON, fileSchema('application/x-ndjson', 'landNdjson', 'Land as lines of JSON')],
    [
      '/land.geojson',
      LAND_GEOJSON,
      fileSchema('application/geo+json', 'landGeoJson', 'The outlines of land as GeoJSON'),
    ],
  ] as const
  for (const [path, formatOf, schema] of rowFiles) {
    app.get(path, { schema: { ...schema, querystring: fileQuery } }, (request, reply) =>
      answerFile(request, reply, request.query, (view) =>
        formatOf(view, request.query.include !== undefined),
      ),
    )
  }
  const otherFiles = [
    [
      '/land.atom',
      landAtom,
      FEED_ROWS,
      fileSchema('application/atom+xml', 'landAtom', 'The newest offers of land as an Atom feed'),
    ],
    [
      '/land.ics',
      landCalendar,
      undefined,
      fileSchema('text/calendar', 'landCalendar', 'The ends of offers and rents as a calendar'),
    ],
  ] as const
  for (const [path, formatOf, maxRows, schema] of otherFiles) {
    app.get(path, { schema: { ...schema, querystring: fileQuery } }, (request, reply) =>
      answerFile(request, reply, request.query, formatOf, maxRows),
    )
  }
}

function placeOf(view: LandView, order: LandOrder, asset: number): SortPlace {
  return { value: order.valueOf(asset), asset: nameOfNumber(view, asset) }
}

function* inOrder(view: LandView, assets: NumberSet, order: LandOrder, maxRows: number): Generator<number> {
  let behind: SortPlace | undefined
  for (let left = maxRows; left > 0; left -= SORTED_ROWS) {
    const first = order.first(assets, Math.min(SORTED_ROWS, left), behind)
    yield* first.assets
    if (!first.hasMore) return
    behind = placeOf(view, order, first.assets.at(-1)!)
  }
}

function headersOf({ contentType, fileName }: Format): Format {
  return fileName === undefined ? { contentType } : { contentType, fileName }
}
