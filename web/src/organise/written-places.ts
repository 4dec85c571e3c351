import type { Place } from '../map/map-types.ts'
import { plainText } from './pasted-text.ts'

/** One of the places in a text: as it is written there, and what it means; undefined for what is no place. */
export interface WrittenPlace {
  readonly written: string
  readonly place: Place | undefined
}

const NUMBER = '-?(?:0|[1-9]\\d{0,5})'
const PAIR = new RegExp(`^(${NUMBER}),(${NUMBER})$`)
/** Whole numbers with commas or blanks between them. */
const NUMBERS = new RegExp(`^${NUMBER}(?:(?: +| *, *)${NUMBER})*$`)
/** `X: 52 Y: -10`, as worlds show it. */
const NAMED = new RegExp(
  `(?<![\\p{L}\\d])x(?:\\s*[:=])?\\s*(${NUMBER})[\\s,;]*y(?:\\s*[:=])?\\s*(${NUMBER})(?!\\d|\\.\\d)`,
  'giu',
)
/** The address that leads to a place in a world, with `position` in its query. */
const LINK = new RegExp(
  `(?<![^\\s;,([{<"'])(?:https?://)?[a-z0-9.-]+\\.[a-z]{2,}(?:/[^\\s;?]*)?\\?(?:[^\\s;,?]*&)?position=(${NUMBER})(?:,|%2C)(${NUMBER})(?:[&#][^\\s;,)\\]}>"']*)?(?![^\\s;,)\\]}>"'])`,
  'gi',
)
/** Pairs in brackets, and nothing but commas and blanks between them. */
const IN_BRACKETS = /^[\s,]*(?:[([{][^()[\]{}]*[)\]}][\s,]*)+$/

/**
 * The places that a text names, in its order. It takes what people paste: pairs with `;`, line breaks, brackets or blanks
 * around them, a JSON array of pairs, the parcels of a `scene.json`, `X: 52 Y: -10`, and addresses that lead to a place.
 *
 * @example
 * writtenPlaces('52,-10; here') // [{ written: '52,-10', place: { x: 52, y: -10 } }, { written: 'here', place: undefined }]
 */
export function writtenPlaces(pasted: string): readonly WrittenPlace[] {
  const text = plainText(pasted).trim()
  if (text === '') return []
  return placesOfJson(text) ?? placesOfText(text.replace(LINK, '$1,$2').replace(NAMED, '$1,$2'))
}

function placesOfText(text: string): readonly WrittenPlace[] {
  const list = /^\[\s*(\(.*\))\s*\]$/s.exec(text)?.[1] ?? text
  return list.replace(/;$/, '').split(';').flatMap(placesOfPart)
}

function placesOfPart(part: string): readonly WrittenPlace[] {
  // As on the server, blanks around the numbers do not count
  const one = placeIn(part)
  if (one) return [{ written: part.trim(), place: one }]
  const lines = part.split('\n').flatMap((line) => line.trim() || [])
  return lines.length === 0 ? [{ written: '', place: undefined }] : lines.flatMap(placesOfLine)
}

function placesOfLine(line: string): readonly WrittenPlace[] {
  if (IN_BRACKETS.test(line)) {
    return [...line.matchAll(/[([{]([^()[\]{}]*)[)\]}]/g)].flatMap(([, inside]) => placesOfNumbers(inside!))
  }
  return placesOfNumbers(line)
}

function placesOfNumbers(line: string): readonly WrittenPlace[] {
  const text = line.trim().replace(/,$/, '').trim()
  const numbers = NUMBERS.test(text) ? text.split(/[ ,]+/) : []
  if (numbers.length === 0 || numbers.length % 2 === 1) return [{ written: text, place: placeIn(text) }]
  const places: WrittenPlace[] = []
  for (let at = 0; at < numbers.length; at += 2) {
    const written = `${numbers[at]},${numbers[at + 1]}`
    places.push({ written, place: placeIn(written) })
  }
  return places
}

/** @returns undefined for a text that is no JSON with a list */
function placesOfJson(text: string): readonly WrittenPlace[] | undefined {
  if (!/^[[{]/.test(text)) return undefined
  try {
    return placesOfValue(JSON.parse(text))
  } catch {
    return undefined
  }
}

function placesOfValue(value: unknown): readonly WrittenPlace[] {
  if (typeof value === 'string') return writtenPlaces(value)
  if (Array.isArray(value)) {
    const isNumbers = value.length > 0 && value.every((one) => typeof one === 'number')
    return isNumbers ? placesOfNumbers(value.join(',')) : value.flatMap(placesOfValue)
  }
  if (typeof value === 'object' && value !== null) {
    if ('x' in value && 'y' in value) return placesOfNumbers(`${value.x},${value.y}`)
    if ('scene' in value) return placesOfValue(value.scene)
    if ('parcels' in value) return placesOfValue(value.parcels)
  }
  return [{ written: JSON.stringify(value), place: undefined }]
}

function placeIn(text: string): Place | undefined {
  const match = PAIR.exec(text.trim().replace(/\s*,\s*/, ','))
  return match ? { x: integerOf(match[1]), y: integerOf(match[2]) } : undefined
}

/** `-0` is read as 0. */
function integerOf(digits: string | undefined): number {
  return Number(digits) || 0
}
