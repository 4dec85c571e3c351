import { parseWorld } from '@landpass/client/grid'
import {
  coordinatesText,
  MAX_COORDINATES,
  parseCoordinates,
} from '@landpass/server/attendance/events/coordinates'
import { assertTokens } from '@landpass/server/attendance/events/event-options'
import { assertDescription, readName } from '@landpass/server/attendance/issuers/own/made-events/event-texts'
import { assertEventUrl } from '@landpass/server/attendance/issuers/own/made-events/made-event-routes'
import { FIRST_OWN_EVENT_ID } from '@landpass/server/attendance/issuers/own/own-event-ids'
import { AppError } from '@landpass/server/errors'
import { pageModule } from '@landpass/server/test/support/pages/page-modules'
import fc from 'fast-check'
import { expect, test } from 'vitest'

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

test('what the server takes, the form reads as the server does; what the form sends, the server takes', () => {
  expect(MAX_PLACES).toBe(MAX_COORDINATES)
  fc.assert(
    fc.property(typed, (text) => {
      const { places, fault } = readCoordinates(text, world.bounds)
      const sent = places.map(({ x, y }) => `${x},${y}`).join(';')

      const taken = takenByServer(text)
      if (taken !== undefined) expect({ sent, fault }).toEqual({ sent: taken, fault: undefined })
      if (fault === undefined) expect(takenByServer(sent)).toBe(sent)
    }),
    { numRuns: 2_000 },
  )
})

test.each(['52,-10;here', '1,1;2,2;151,0', '1.5,2', '1,1;;2,2', '007,1', '', '1,2,3'])(
  'of %j both name the same pair',
  (text) => {
    const { fault } = readCoordinates(text, world.bounds)

    expect({ position: fault?.position ?? 1, pair: fault?.pair ?? '' }).toEqual(refusedByServer(text))
  },
)

/** @returns undefined for a text that the server refuses */
function takenByServer(text: string): string | undefined {
  let taken: string | undefined
  isTaken(() => {
    taken = coordinatesText(parseCoordinates(text, world))
  })
  return taken
}

function isTaken(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

function refusedByServer(text: string) {
  try {
    return parseCoordinates(text, world)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { position: error.data.position, pair: error.data.pair }
  }
}

test('the pages know events that were made here by the numbers that the server gives them', async () => {
  const page = (await import(pageModule('organise/made-here.ts'))) as { FIRST_OWN_EVENT_ID: number }
  expect(page.FIRST_OWN_EVENT_ID).toBe(FIRST_OWN_EVENT_ID)
})

test('the form takes the names, descriptions and links that the server takes', async () => {
  const { isEventName, isEventDescription, isEventLink } = (await import(
    pageModule('organise/event-texts.ts')
  )) as Record<'isEventName' | 'isEventDescription' | 'isEventLink', (typed: string) => boolean>
  const part = fc.oneof(
    fc.constantFrom(
      'https://',
      'HTTPS://',
      'http://',
      'a.example',
      ':8',
      '@',
      '/',
      '\\\\',
      ' ',
      '?',
      '\u202e',
      '\u0007',
      '\u200b',
      '\u2800',
      '\n',
      '\t',
    ),
    fc.string({ maxLength: 6, unit: 'binary' }),
  )
  const link = fc.tuple(fc.constantFrom('https://', 'https://a', ''), fc.array(part, { maxLength: 4 }))
  fc.assert(
    fc.property(link, ([start, parts]) => {
      const typed = start + parts.join('')
      expect(isEventLink(typed)).toBe(isTaken(() => assertEventUrl(typed.trim())))
      const text = parts.join('')
      expect(isEventName(text)).toBe(isTaken(() => readName(text)))
      expect(isEventDescription(text)).toBe(isTaken(() => assertDescription(text.trim())))
    }),
    { numRuns: 1_000 },
  )
})

test('the form takes as many tokens as the server', async () => {
  const { MAX_TOKENS } = (await import(pageModule('organise/tokens-text.ts'))) as { MAX_TOKENS: number }
  expect(isTaken(() => assertTokens(MAX_TOKENS))).toBe(true)
  expect(isTaken(() => assertTokens(MAX_TOKENS + 1))).toBe(false)
})
