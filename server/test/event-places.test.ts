import { parseWorld } from '@landpass/client/grid'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { coordinatesText, MAX_COORDINATES, parseCoordinates } from '../src/attendance/events/coordinates.ts'
import { FIRST_OWN_EVENT_ID } from '../src/attendance/issuer/own-event-ids.ts'
import { AppError } from '../src/errors.ts'
import { pageModule } from './support/page-modules.ts'

/** What the organisers' form makes of a text while it is typed. */
interface TypedPlaces {
  readonly places: readonly { readonly x: number; readonly y: number }[]
  readonly fault?: { readonly kind: string; readonly pair?: string; readonly position?: number }
}

interface FormCoordinates {
  readonly MAX_PLACES: number
  readCoordinates(text: string, bounds: object): TypedPlaces
}

const { MAX_PLACES, readCoordinates } = (await import(
  pageModule('organise/coordinates.ts')
)) as FormCoordinates
const world = parseWorld('-150,-150,150,150')!

/** Texts as people type them: pairs, some of them bad, and whatever stands around them. */
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.integer({ min: -160, max: 160 }), fc.integer({ min: -160, max: 160 })).map(String),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '',
      ' ',
      ';',
      '-0,0',
      ' 1 , 2 ',
      '1.5,2',
      '007,1',
      '1-0,5',
      '--0,1',
      '1,2,3',
      '−1,2',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 12, unit: 'binary' }) },
)
const typed = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(';'))

test('the form judges the places of an event as the server does, whatever is typed', () => {
  expect(MAX_PLACES).toBe(MAX_COORDINATES)
  fc.assert(
    fc.property(typed, (text) => {
      expect(judgementOfTheForm(text)).toEqual(judgementOfTheServer(text))
    }),
    { numRuns: 2_000 },
  )
})

function judgementOfTheForm(text: string) {
  const { places, fault } = readCoordinates(text, world.bounds)
  if (!fault) return coordinatesText(places)
  if (fault.kind === 'missing') return { position: 1, pair: '' }
  return { pair: fault.pair, position: fault.position ?? MAX_PLACES + 1 }
}

function judgementOfTheServer(text: string) {
  try {
    return coordinatesText(parseCoordinates(text, world))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { pair: error.data.pair, position: error.data.position }
  }
}

test('the pages know events that were made here by the numbers that the server gives them', async () => {
  const page = (await import(pageModule('organise/made-here.ts'))) as { FIRST_OWN_EVENT_ID: number }
  expect(page.FIRST_OWN_EVENT_ID).toBe(FIRST_OWN_EVENT_ID)
})
