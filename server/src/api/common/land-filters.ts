import { type Area, type Coord, parseCoord } from '@landpass/client/grid'
import Type, { type TProperties } from 'typebox'
import { invalidParameter } from '../../http/validation.ts'
import { weiOf } from '../../land/events/amounts.ts'
import { type AssetName, findAsset } from '../../land/records/assets.ts'
import { GIVEN_ADDRESS } from '../../schema-parts.ts'
import { readTime } from '../../time-text.ts'

/**
 * Parameters that the lists below `/v2` share: where land lies, ranges, times, and lists of words. Schemas, and functions
 * that read them. What contradicts itself is refused by name; so is a parameter that an endpoint does not have
 * ({@link strictQuery}), because a misspelt filter would answer with the whole world.
 */

/** Memory of the parameters of a search. */
export const QUERY_BYTES = 2_048

/** A query without other parameters than these. */
export function strictQuery<Properties extends TProperties>(properties: Properties) {
  return Type.Object(properties, { additionalProperties: false })
}

const PLACE_ALLOWED = 'x,y: two whole numbers with a comma between them'
const place = (title: string, description: string) =>
  Type.Optional(Type.String({ title, 'x-allowed': PLACE_ALLOWED, description }))

/** Beyond it every parcel of a contract is nearer than the radius. */
const MAX_RADIUS = 10_000_000
const MAX_DISTRICTS = 50
const UUID = '[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}'

export const placeQuery = {
  nw: place('LandNorthWest', 'Has a parcel in the area from this north-west corner, x,y, to se.'),
  se: place('LandSouthEast', 'South-east corner of the area, x,y.'),
  center: place('LandCenter', 'Has a parcel at most radius away from here, x,y.'),
  radius: Type.Optional(
    Type.Number({
      title: 'LandRadius',
      minimum: 0,
      maximum: MAX_RADIUS,
      'x-allowed': `a number from 0 to ${MAX_RADIUS}`,
      description: 'In parcels: dx² + dy² is at most radius².',
    }),
  ),
  district: Type.Optional(
    Type.String({
      title: 'LandDistrict',
      'x-list': true,
      pattern: `^${UUID}(?:,${UUID}){0,${MAX_DISTRICTS - 1}}$`,
      'x-allowed': `ids of districts, at most ${MAX_DISTRICTS}, separated by commas`,
      description: 'Has a parcel in one of these districts.',
    }),
  ),
}

interface PlaceQuery {
  readonly nw?: string | undefined
  readonly se?: string | undefined
  readonly center?: string | undefined
  readonly radius?: number | undefined
  readonly district?: string | undefined
}

/** Where land has to have a parcel. What is undefined keeps everything. */
export interface PlaceFilter {
  readonly area: Area | undefined
  /** With a radius: the middle of a circle. */
  readonly center: Coord | undefined
  readonly radius: number | undefined
  /** Ids in lower case. */
  readonly districts: readonly string[] | undefined
}

/**
 * Reads the parameters of {@link placeQuery}.
 *
 * @throws {AppError} `invalid_parameter`: a corner without the other, corners in the wrong order, a radius without a centre
 * @example
 * readPlaces({ nw: '-3,7', se: '2,5' }).area // { minX: -3, maxX: 2, minY: 5, maxY: 7 }
 */
export function readPlaces(query: PlaceQuery): PlaceFilter {
  const { radius } = query
  const center = readPlace('center', query.center)
  if (radius !== undefined && !center)
    throw invalidParameter('center', undefined, 'given, as radius is the distance from it')
  return {
    area: readCorners(query),
    center,
    radius,
    districts: wordsOf(query.district?.toLowerCase()),
  }
}

function readCorners(query: PlaceQuery): Area | undefined {
  const [nw, se] = [readPlace('nw', query.nw), readPlace('se', query.se)]
  if (!nw && !se) return undefined
  if (!nw || !se) throw invalidParameter(nw ? 'se' : 'nw', undefined, 'given, as nw and se belong together')
  if (nw.x <= se.x && nw.y >= se.y) return { minX: nw.x, maxX: se.x, minY: se.y, maxY: nw.y }
  const allowed = `north-west of se (${query.se}): its x not greater, its y not smaller`
  throw invalidParameter('nw', query.nw, allowed)
}

function readPlace(name: string, text: string | undefined): Coord | undefined {
  if (text === undefined) return undefined
  const coord = parseCoord(text)
  if (coord) return coord
  throw invalidParameter(name, text, PLACE_ALLOWED)
}

/** Both limits belong to the range. */
export interface Range<Value> {
  readonly min: Value | undefined
  readonly max: Value | undefined
}

type LimitsOf<Name extends string> = `min_${Name}` | `max_${Name}`
type Query = Readonly<Record<string, unknown>>

/**
 * The parameters `min_…` and `max_…` for whole numbers from 0.
 *
 * @param of what is between them, for openapi.json
 */
export function wholeRange<Name extends string>(name: Name, of: string) {
  const limit = (title: string, description: string) =>
    Type.Optional(Type.Integer({ title, minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description }))
  return limits(name, of, limit)
}

/** A sum of MANA as it is given. */
export const MANA = /^\d{1,60}(?:\.\d{1,18})?$/

/** The parameters `min_…` and `max_…` for sums of MANA. */
export function manaRange<Name extends string>(name: Name, of: string) {
  const limit = (title: string, description: string) =>
    Type.Optional(
      Type.String({
        title,
        pattern: MANA.source,
        'x-allowed': 'MANA: decimal digits, with up to 18 decimals',
        description,
      }),
    )
  return limits(name, of, limit)
}

function limits<Name extends string, Schema>(
  name: Name,
  of: string,
  limit: (title: string, description: string) => Schema,
) {
  const title = name.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return {
    [`min_${name}`]: limit(`LandMin${title}`, `Lowest ${of}.`),
    [`max_${name}`]: limit(`LandMax${title}`, `Highest ${of}.`),
  } as Record<LimitsOf<Name>, Schema>
}

/**
 * Reads the parameters of {@link wholeRange}; undefined where neither is given.
 *
 * @throws {AppError} `invalid_parameter` for a lower limit above the upper one
 * @example
 * readWholeRange({ min_road: 0, max_road: 2 }, 'road') // { min: 0, max: 2 }
 */
export function readWholeRange(query: Query, name: string): Range<number> | undefined {
  return readRange(query, name, (limit) => limit as number)
}

/** Reads the parameters of {@link manaRange}, in wei; undefined where neither is given. @throws as {@link readWholeRange} */
export function readManaRange(query: Query, name: string): Range<bigint> | undefined {
  return readRange(query, name, (limit) => weiOf(limit as string))
}

function readRange<Value extends number | bigint>(
  query: Query,
  name: string,
  read: (limit: unknown) => Value,
): Range<Value> | undefined {
  const [lowest, highest] = [query[`min_${name}`], query[`max_${name}`]]
  if (lowest === undefined && highest === undefined) return undefined
  const min = lowest === undefined ? undefined : read(lowest)
  const max = highest === undefined ? undefined : read(highest)
  if (min !== undefined && max !== undefined && min > max)
    throw invalidParameter(`min_${name}`, lowest, `at most max_${name} (${highest})`)
  return { min, max }
}

/** An address as a parameter. @param title its name in openapi.json */
export function addressQuery(title: string, description: string) {
  return Type.Optional(Type.String({ title, ...GIVEN_ADDRESS, description }))
}

const ASSET_ALLOWED = 'x,y of a parcel, or estate:<id>'

/** A parcel or an estate as a parameter. @param title its name in openapi.json */
export function assetQuery(title: string, description: string) {
  const pattern = '^(?:[-\\d]{1,7},[-\\d]{1,7}|estate:[0-9]{1,78})$'
  return Type.Optional(Type.String({ title, pattern, 'x-allowed': ASSET_ALLOWED, description }))
}

/** Reads a parameter of {@link assetQuery}. @throws {AppError} `invalid_parameter` for what is no asset */
export function readAssetOf(name: string, text: string | undefined): AssetName | undefined {
  if (text === undefined) return undefined
  const [, id] = /^estate:(.+)$/.exec(text) ?? []
  if (id !== undefined) return { type: 'estate', id: String(BigInt(id)) }
  if (parseCoord(text)) return findAsset(text, 'parcel')
  throw invalidParameter(name, text, ASSET_ALLOWED)
}

/** A time as a parameter. @param title its name in openapi.json */
export function timeQuery(title: string, description: string) {
  const allowed = 'a time: ISO 8601 with a time zone, a day, or milliseconds since 1970-01-01 UTC'
  return Type.Optional(
    Type.String({ title, pattern: '^[0-9TtZz:.+-]{1,40}$', 'x-allowed': allowed, description }),
  )
}

/**
 * Reads a parameter of {@link timeQuery}. A day begins at midnight, UTC.
 *
 * @returns milliseconds since 1970
 * @throws {AppError} `invalid_parameter` for a time that does not exist, or has no time zone
 * @example
 * readTimeOf('from', '2026-03-01') // Date.parse('2026-03-01T00:00:00Z')
 */
export function readTimeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  const { timeMs, wrong } = readTime(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text)
  if (timeMs !== undefined) return timeMs
  const allowed = `a time with a time zone, like 2026-03-01T00:00:00Z, or milliseconds: not one ${wrong}`
  throw invalidParameter(name, text, allowed)
}

/** One or more words of a list, separated by commas, or the parameter repeated. */
export function wordsQuery(words: readonly string[], options: { title: string; description: string }) {
  const one = `(?:${words.join('|')})`
  return Type.Optional(
    Type.String({
      'x-list': true,
      pattern: `^${one}(?:,${one}){0,${words.length - 1}}$`,
      'x-allowed': `one or more of ${words.join(', ')}, separated by commas`,
      ...options,
    }),
  )
}

/** The words of a parameter of {@link wordsQuery}, each once. */
export function wordsOf<Word extends string>(text: string | undefined): readonly Word[] | undefined {
  return text === undefined ? undefined : ([...new Set(text.split(','))] as Word[])
}
