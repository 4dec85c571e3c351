import { type Coord, coordText, isInWorld, parseCoord, type World } from '@landpass/client/grid'
import Type, { type TSchema } from 'typebox'
import { AppError } from '../../errors.ts'
import { invalidParameter, outOfRange, wholeNumberText } from '../../http/validation.ts'
import { STATUSES } from '../../land/records/statuses.ts'
import { GIVEN_ADDRESS, oneOf } from '../../schema-parts.ts'
import { worldText } from '../../world-text.ts'
import type { LandContext } from './land-context.ts'

/** Parameters of several endpoints: their schemas, and functions that read them. */

const PLACES = 'within `WORLD`, or of a parcel that the chain has outside'

/**
 * Coordinates in a path. All whole numbers are passed on: {@link assertInWorld} or {@link assertKnownPlace} refuses most of
 * those outside of the world.
 */
export function coordParams({ bounds }: World) {
  return Type.Object({
    x: Type.Integer({
      title: 'ParcelX',
      'x-allowed': wholeNumberText({ minimum: bounds.minX, maximum: bounds.maxX }),
      description: `Column, growing to the east: ${PLACES}.`,
    }),
    y: Type.Integer({
      title: 'ParcelY',
      'x-allowed': wholeNumberText({ minimum: bounds.minY, maximum: bounds.maxY }),
      description: `Row, growing to the north: ${PLACES}.`,
    }),
  })
}

/** Coordinates in one segment of a path: `145,-79`. */
export const coordTextParams = Type.Object({ place: Type.String({ description: 'x,y' }) })

export const addressParams = Type.Object({
  address: Type.String({
    title: 'Address',
    ...GIVEN_ADDRESS,
    description: 'Blockchain address, in any letter case.',
  }),
})

/**
 * An id that is looked up unchanged: an invalid one is not found. Only text with a NUL, which the database does not
 * accept, and text of more than 100 characters is refused.
 *
 * @param title the name in openapi.json, if several endpoints have this parameter
 */
export function idParams(name: string, description: string, title?: string) {
  const id = Type.String({
    ...(title !== undefined && { title }),
    pattern: '^[^\\u0000]{1,100}$',
    'x-allowed': 'an id of 1 to 100 characters',
    description,
  })
  return Type.Object({ [name]: id })
}

export const estateParams = idParams('id', 'Estate id, decimal, or 0x and hex digits.', 'EstateId')
export const assetParams = idParams('id', 'Estate id as in /estates/:id, or parcel as x,y.', 'AssetId')

/** The allowed forms of a token id, in words. */
export const TOKEN_ID_ALLOWED =
  'a token id: a whole number of at most 256 bits, in decimal or as 0x and hex digits'

/** One or more values separated by commas; also `all`, if that is the default. */
export function statusQuery(
  values: readonly string[],
  options: { title?: string; default: string; description: string },
): TSchema {
  const one = `(?:${values.join('|')})`
  const or = options.default === 'all' ? 'all|' : ''
  return Type.String({
    pattern: `^(?:${or}${one}(?:,${one}){0,${values.length - 1}})$`,
    'x-allowed': `${options.default === 'all' ? 'all, or ' : ''}one or more of ${values.join(', ')}, separated by commas`,
    ...options,
  })
}

/** The filter of the assets of an address. */
export const ownedQuery = Type.Object({
  status: statusQuery(STATUSES, {
    title: 'OwnedStatus',
    default: 'all',
    description: 'Only those with a publication of this status.',
  }),
})

/** The type of the asset that an id names. */
export const assetTypeQuery = Type.Optional(
  oneOf(['parcel', 'estate'], {
    title: 'AssetType',
    description: 'If left out, the form of the id decides.',
  }),
)

/** The statuses that a query asks for; undefined for all of them. */
export function parseStatuses<T extends string>(text: string): readonly T[] | undefined {
  return text === 'all' ? undefined : [...new Set(text.split(','))].map((status) => status as T)
}

export function lowerCase(text: string): string {
  return text.toLowerCase()
}

/** Refuses coordinates outside of the world. @throws {AppError} `invalid_parameter` */
export function assertInWorld(world: World, coord: Coord): Coord {
  if (isInWorld(world, coord)) return coord
  const { minX, maxX, minY, maxY } = world.bounds
  if (coord.x < minX || coord.x > maxX) throw outOfRange('x', coord.x, { minimum: minX, maximum: maxX })
  if (coord.y < minY || coord.y > maxY) throw outOfRange('y', coord.y, { minimum: minY, maximum: maxY })
  throw invalidParameter('x,y', coordText(coord), `inside the world: ${worldText(world)}`)
}

/** What knows the world, and the parcels that there are. */
export type Places = Pick<LandContext, 'world' | 'state'>

/** Whether there is a parcel outside of the world. Before a world is loaded, none is known. */
function hasOutside({ world, state }: Places, coord: Coord): boolean {
  if (isInWorld(world, coord)) return false
  try {
    return state().parcelRow(coord) >= 0
  } catch (error) {
    if (error instanceof AppError && error.code === 'world_not_loaded') return false
    throw error
  }
}

/** Like {@link assertInWorld}, but takes the coordinates of a parcel that a chain names outside of the world. */
export function assertKnownPlace(places: Places, coord: Coord): Coord {
  return hasOutside(places, coord) ? coord : assertInWorld(places.world, coord)
}

/** Like {@link readCoordinates}, but takes the coordinates of a parcel that a chain names outside of the world. */
export function readKnownPlace(places: Places, text: string): Coord {
  const coord = parseCoord(text)
  return coord && hasOutside(places, coord) ? coord : readCoordinates(places.world, 'x,y', text)
}

/** Reads coordinates `x,y` of the world. @throws {AppError} `invalid_parameter` for the parameter `name` */
export function readCoordinates(world: World, name: string, text: string): Coord {
  const coord = parseCoord(text)
  if (!coord) throw invalidParameter(name, text, 'x,y: two whole numbers with a comma between them')
  if (isInWorld(world, coord)) return coord
  throw invalidParameter(name, text, `inside the world: ${worldText(world)}`)
}
