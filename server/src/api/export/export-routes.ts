import type { FastifySchema } from 'fastify'
import { streamed } from '../../http/answer.ts'
import type { Routes } from '../../http/routes.ts'
import { formatSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { assetsCost } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { tileSource } from '../tile-data/tile-source.ts'
import { GEOJSON, NDJSON, type ParcelFormat, parcelPieces } from './parcel-formats.ts'

/** `GET /export/parcels.geojson` and `GET /export/parcels.ndjson`: the whole world as a file (docs/exports.md). */
export const exportRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
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
          responses: formatSchema(
            format.contentType,
            {
              description: 'All parcels, by x ascending, then y descending.',
            },
            ['too_many_large_answers'],
          ),
        },
      },
      (request, reply) => {
        const state = land.state()
        const openOffers = state.openOffers(land.clock.nowMs())
        const freshness = state.freshness(openOffers.lastExpiryMs)
        // A slow client holds these arrays in memory, not the whole state.
        const source = tileSource(state.parts, openOffers, land.registries)
        const cost = assetsCost(state.parts.parcels.x.length)
        const cachedAs = { bodies: land.bodies, name: format.fileName }
        const body = () => streamed(() => parcelPieces(source, format), cost, cachedAs)
        return send(request, reply, { freshness, format, body })
      },
    )

  exportAs(GEOJSON, {
    operationId: 'parcelsGeoJson',
    summary: 'Every parcel of the world as GeoJSON',
    description:
      'A FeatureCollection with a square for each parcel, aligned with the image tiles. Its properties are the \
fields of tile data. Streamed, without the envelope.',
  })
  exportAs(NDJSON, {
    operationId: 'parcelsNdjson',
    summary: 'Every parcel of the world as lines of JSON',
    description:
      'One line of JSON with the fields of tile data for each parcel. Streamed, without the envelope.',
  })
}
