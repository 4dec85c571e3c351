import type { Routes } from '../../http/routes.ts'
import { imageSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { drawEstateMap, drawMinimap } from '../../map/data-images.ts'
import { digestOf } from '../../map/land-digest.ts'
import type { PictureRouteOptions } from './image-answers.ts'
import type { PictureRequest, ShownLand } from './pictures.ts'

/** Measured: 262,144 pixels are filled and compressed. */
const DRAWING_UNITS = 40

const tags = ['map']
const WHERE =
  '512 x 512 pixels, RGBA. A parcel is one pixel: column x + 256, row 256 - y. A pixel without a parcel is 0,0,0,0.'

const MINIMAP: PictureRequest = {
  ...{ showsOffers: false, showsRentals: false },
  cacheKey: 'minimap',
  bytes: 0,
  digest: (land) => `${boundsText(land)} ${digestOnce(land.state.parts.cells)}`,
  cost: () => DRAWING_UNITS,
  draw: (land) => drawMinimap(cellsOf(land)),
}

const ESTATE_MAP: PictureRequest = {
  ...{ showsOffers: false, showsRentals: false },
  cacheKey: 'estatemap',
  bytes: 0,
  digest: (land) => {
    const { rowAt, estate } = land.state.parts.parcels
    return `${boundsText(land)} ${digestOnce(rowAt)} ${digestOnce(estate)}`
  },
  cost: () => DRAWING_UNITS,
  draw: (land) => drawEstateMap(cellsOf(land), land.state.parts.parcels.estate),
}

/** Images whose colours are data, for programs: kinds and joins of all parcels, and their estates. */
export const dataImageRoutes: Routes<PictureRouteOptions> = (app, { pictures }) => {
  app.get(
    '/minimap.png',
    {
      compress: false,
      schema: {
        tags,
        operationId: 'minimapImage',
        summary: 'Kinds and joins of all parcels as colours',
        description: `${WHERE} Red: 8 joined to the north, 16 to the west, 32 to the north-west. Green: 32 district, 64 road, 128 owned, else 0.`,
        responses: imageSchema(),
      },
    },
    (request, reply) => send(request, reply, () => pictures.answer(MINIMAP)),
  )

  app.get(
    '/estatemap.png',
    {
      compress: false,
      schema: {
        tags,
        operationId: 'estateMapImage',
        summary: 'The estates of all parcels as colours',
        description: `${WHERE} Red, green and blue are one number: that of the estate, by ascending id from 1; 0 for none.`,
        responses: imageSchema(),
      },
    },
    (request, reply) => send(request, reply, () => pictures.answer(ESTATE_MAP)),
  )
}

function cellsOf({ state: { parts } }: ShownLand) {
  return { bounds: parts.bounds, cells: parts.cells, rowAt: parts.parcels.rowAt }
}

function boundsText({ state: { parts } }: ShownLand): string {
  return Object.values(parts.bounds).join()
}

/** States between which a column did not change share it. */
const digests = new WeakMap<object, string>()

function digestOnce(column: Uint8Array | Int32Array): string {
  let digest = digests.get(column)
  if (digest === undefined) {
    digest = digestOf(new Uint8Array(column.buffer, column.byteOffset, column.byteLength))
    digests.set(column, digest)
  }
  return digest
}
