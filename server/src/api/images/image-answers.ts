import { type Coord, isInWorld } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../errors.ts'
import type { HeaderList } from '../../http/cross-origin.ts'
import { send } from '../../http/send.ts'
import { estateIdOf } from '../../land/records/assets.ts'
import { areaAround, centredOn, countParcels, fittedTo, MAX_PARCELS, outsideOf } from '../../map/frame.ts'
import { parcelsOfEstate } from '../../state/parts/estate-members.ts'
import type { LandContext } from '../common/land-context.ts'
import type { DrawnFrame, Style } from './image-parameters.ts'
import { mapPicture } from './map-picture.ts'
import type { PictureRequest, Pictures } from './pictures.ts'

export interface PictureRouteOptions {
  readonly land: LandContext
  readonly pictures: Pictures
}

/** How an image is drawn, whatever it shows. */
export interface Drawing {
  readonly drawn: DrawnFrame
  readonly style: Style
}

/** Answers with the land around a point; without one with the ground outside of the world. */
export function answerPoint(
  request: FastifyRequest,
  reply: FastifyReply,
  { land, pictures }: PictureRouteOptions,
  shown: Drawing & { readonly center: Coord | undefined; readonly selected: readonly Coord[] },
): FastifyReply | Promise<FastifyReply> {
  const { drawn, style, center, selected } = shown
  const { frame } = drawn
  const origin = center ? centredOn(areaAround([center]), frame) : outsideOf(land.world.bounds, frame)
  const picture = mapPicture({ ...frame, ...origin, selected, theme: style.theme }, style)
  const headers = headersOf(drawn)
  return send(request, reply, () => pictures.answer(picture, headers), picture.bytes)
}

/**
 * Answers with an estate in the middle of an image, selected, zoomed out until it fits; for one without parcels with the
 * ground outside of the world.
 *
 * @throws {AppError} `estate_not_found`
 */
export function answerEstate(
  request: FastifyRequest,
  reply: FastifyReply,
  { land, pictures }: PictureRouteOptions,
  { drawn, style, id }: Drawing & { readonly id: string },
): FastifyReply | Promise<FastifyReply> {
  const headers = headersOf(drawn)
  let made = estatePicture(land, { drawn, style, id })
  const answer = () => {
    if (made.tag !== land.state().freshness().tag) made = estatePicture(land, { drawn, style, id })
    return pictures.answer(made.picture, headers)
  }
  return send(request, reply, answer, made.picture.bytes)
}

/** The picture of an estate, until the land has another tag. */
function estatePicture(
  land: LandContext,
  { drawn, style, id }: Drawing & { readonly id: string },
): { readonly tag: string; readonly picture: PictureRequest } {
  const state = land.state()
  const row = state.estateRow(estateIdOf(id))
  if (row < 0) throw new AppError('estate_not_found', 'There is no estate with this id.', { id })
  const selected = parcelsOfEstate(state.parts.parcels, row).filter((parcel) => isInWorld(land.world, parcel))
  const area = selected.length > 0 ? areaAround(selected) : undefined
  const frame = area ? fittedTo(area, drawn.frame) : drawn.frame
  const origin = area ? centredOn(area, frame) : outsideOf(land.world.bounds, frame)
  const picture = mapPicture({ ...frame, ...origin, selected, theme: style.theme }, style)
  return { tag: state.freshness().tag, picture }
}

function headersOf({ changes }: DrawnFrame): HeaderList {
  return changes === undefined ? [] : ['x-drawn', changes]
}

/** Refuses a frame with too many parcels: the only failure without the envelope, because existing clients expect it. */
export function refusalOfParcels({ frame }: DrawnFrame, reply: FastifyReply): FastifyReply | undefined {
  const parcels = countParcels(frame)
  if (parcels <= MAX_PARCELS) return undefined
  return reply
    .code(500)
    .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
    .send(
      `Too many parcels. You are trying to render ${parcels} parcels and the maximum allowed is ${MAX_PARCELS}.`,
    )
}
