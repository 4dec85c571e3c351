import { maxZoom, squareHalf, type TileAddress } from '@landpass/client/grid'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { DOCUMENT } from '../../http/answer.ts'
import { publicBase } from '../../http/public-base.ts'
import type { Routes } from '../../http/routes.ts'
import { imageSchema, okSchema, withUnchanged } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { tagOf } from '../../http/text-tag.ts'
import { invalidParameter } from '../../http/validation.ts'
import { tileView } from '../../map/tile-view.ts'
import type { PictureRouteOptions } from './image-answers.ts'
import { readStyle, styleQuery } from './image-parameters.ts'
import { mapPicture } from './map-picture.ts'
import { tileJson, tileJsonSchema } from './tile-json.ts'

export interface PyramidRouteOptions extends PictureRouteOptions {
  readonly publicUrl: string | undefined
}

const tags = ['map']
const query = Type.Object(styleQuery)
const ROW_ALLOWED = 'a whole number, with @2x after it for 512 pixels'

/** The image tiles for map viewers: 256 pixels wide (512 with @2x), and the TileJSON that describes them. */
export const pyramidRoutes: Routes<PyramidRouteOptions> = (app, { land, pictures, publicUrl }) => {
  const half = squareHalf(land.world.bounds)

  app.get(
    '/tiles/:z/:x/:y.png',
    {
      compress: false,
      schema: {
        tags,
        operationId: 'tileImage',
        summary: 'An image tile for map viewers',
        description: 'The square around the world is cut into 2^z by 2^z tiles.',
        params: Type.Object({
          z: Type.Integer({ description: `Zoom, 0 to ${maxZoom(half)}.` }),
          x: Type.Integer({ description: 'Column, from the west.' }),
          y: Type.String({
            description: 'Row, from the north. With @2x after it, the tile has 512 pixels.',
          }),
        }),
        querystring: query,
        responses: imageSchema(['invalid_parameter', 'tile_not_found']),
      },
    },
    (request, reply) => {
      const { y, scale } = readRow(request.params.y)
      const tile = assertInPyramid({ z: request.params.z, x: request.params.x, y }, maxZoom(half))
      const style = readStyle(request.query)
      const picture = mapPicture(tileView({ tile, half, scale, theme: style.theme }), style)
      return send(request, reply, () => pictures.answer(picture))
    },
  )

  app.get(
    '/tiles.json',
    {
      schema: {
        tags,
        operationId: 'tileJson',
        summary: 'TileJSON 3.0.0 of the image tiles',
        description: 'Without the envelope, for map viewers. Its tile addresses have the requested style.',
        querystring: query,
        responses: withUnchanged(() => ({
          ...okSchema(tileJsonSchema, ['invalid_parameter', 'too_many_requests'])(),
          200: tileJsonSchema,
        })),
      },
    },
    (request, reply) => {
      const base = `${publicBase(request, publicUrl)}${app.prefix}`
      const text = JSON.stringify(tileJson(land.world, { base, style: readStyle(request.query) }))
      return send(request, reply, { freshness: { tag: tagOf(text) }, format: DOCUMENT, body: () => text })
    },
  )
}

/** Reads `5` or `5@2x`. @throws {AppError} `invalid_parameter` */
function readRow(text: string): { y: number; scale: 1 | 2 } {
  const [, row, retina] = /^(-?(?:0|[1-9]\d{0,15}))(@2x)?$/.exec(text) ?? []
  if (row === undefined) throw invalidParameter('y', text, ROW_ALLOWED)
  return { y: Number(row), scale: retina ? 2 : 1 }
}

/** @throws {AppError} `tile_not_found` */
function assertInPyramid(tile: TileAddress, highest: number): TileAddress {
  const { z, x, y } = tile
  const across = 2 ** z
  if (z >= 0 && z <= highest && x >= 0 && x < across && y >= 0 && y < across) return tile
  const sentence = `There is no tile ${z}/${x}/${y}: zooms are 0 to ${highest}, columns and rows of zoom z 0 to 2^z - 1.`
  throw new AppError('tile_not_found', sentence, { z, x, y, max_zoom: highest })
}
