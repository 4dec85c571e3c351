import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifySchema } from 'fastify'
import { send, streamed } from '../../http/answer.ts'
import { formatSchema } from '../../http/schemas.ts'
import type { LandContext } from '../common/land-context.ts'
import { tileSource } from '../tile-data/tile-source.ts'
import { GEOJSON, NDJSON, type ParcelFormat, parcelPieces } from './parcel-formats.ts'

/** `GET /export/parcels.geojson` and `GET /export/parcels.ndjson`: the whole world as a file (docs/exports.md). */
export const exportRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (app, { land }, done) => {
  const exportAs = (
    format: ParcelFormat,
    schema: Pick<FastifySchema, 'operationId' | 'summary' | 'description'>,
  ) =>
    app.get(
      `/export/${format.fileName}`,
      {
        schema: {
          tags: ['tiles'],
          ...schema,
          response: formatSchema(format.contentType, {
            description: 'All parcels, by x ascending, then y descending.',
          }),
        },
      },
      (request, reply) => {
        const state = land.state()
        const sales = state.openOffers(land.clock.nowMs())
        const freshness = state.freshness(sales.lastExpiryMs)
        // A slow reader holds the flat arrays for a while, not the whole state.
        const source = tileSource(state.parts, sales)
        const body = () => streamed(() => parcelPieces(source, format))
        return send(request, reply, { freshness, format, body })
      },
    )

  exportAs(GEOJSON, {
    operationId: 'parcelsGeoJson',
    summary: 'Every parcel of the world as GeoJSON',
    description:
      'A FeatureCollection with a square for each parcel, over the tiles of the map, and the fields of a tile as \
its properties. Streamed, and no envelope around it.',
  })
  exportAs(NDJSON, {
    operationId: 'parcelsNdjson',
    summary: 'Every parcel of the world as lines of JSON',
    description: 'The fields of a tile on a line for each parcel. Streamed, and no envelope around it.',
  })
  done()
}
