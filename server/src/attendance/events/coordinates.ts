import { type Coord, coordText, isInWorld, parseCoord, type World } from '@landpass/client/grid'
import { AppError } from '../../errors.ts'
import { worldText } from '../../world-text.ts'

/** How many places an event may have. */
export const MAX_COORDINATES = 500
const SHOWN_PAIR_LENGTH = 40

/**
 * Reads the places of an event: `x,y` pairs separated by `;`. Blanks around numbers and a `;` at the end are tolerated,
 * duplicates dropped, the order is kept.
 *
 * @throws {AppError} `invalid_coordinates` naming the first bad pair, or the first beyond {@link MAX_COORDINATES}
 * @example
 * parseCoordinates('52,-10; 53,-10;52,-10;', world).map(coordText) // ['52,-10', '53,-10']
 */
export function parseCoordinates(text: string, world: World): readonly Coord[] {
  const pairs = text.trim().replace(/;$/, '').split(';')
  if (text.trim() === '') throw refusal('Coordinates are missing: send at least one x,y pair.', 1, '')
  const places = new Map<string, Coord>()
  for (const [at, pair] of pairs.entries()) {
    const place = parsePair(pair, at + 1, world)
    places.set(coordText(place), place)
  }
  const [beyond] = [...places.keys()].slice(MAX_COORDINATES)
  if (beyond !== undefined) throw tooLong(beyond)
  return [...places.values()]
}

function tooLong(beyond: string): AppError {
  const sentence = `The list of coordinates is too long: an event has at most ${MAX_COORDINATES}, and ${beyond} is one too many.`
  return refusal(sentence, MAX_COORDINATES + 1, beyond)
}

/** The places as they are stored and shown. */
export function coordinatesText(places: readonly Coord[]): string {
  return places.map(coordText).join(';')
}

/** What {@link coordinatesText} wrote. */
export function readCoordinates(text: string): readonly Coord[] {
  return text.split(';').map((pair) => parseCoord(pair)!)
}

function parsePair(pair: string, position: number, world: World): Coord {
  const shown = pair.trim().slice(0, SHOWN_PAIR_LENGTH)
  const place = parseCoord(
    pair
      .trim()
      .replace(/\s*,\s*/, ',')
      .replace(/(?<![\d.])-0(?![\d.])/g, '0'),
  )
  if (!place) {
    throw refusal(
      `Pair ${position} of the coordinates, ${JSON.stringify(shown)}, is not two whole numbers x,y.`,
      position,
      shown,
    )
  }
  if (!isInWorld(world, place)) {
    throw refusal(
      `Pair ${position} of the coordinates, ${coordText(place)}, lies outside the world, which reaches from ${worldText(world)}.`,
      position,
      shown,
    )
  }
  return place
}

function refusal(sentence: string, position: number, pair: string): AppError {
  return new AppError('invalid_coordinates', sentence, { position, pair })
}
