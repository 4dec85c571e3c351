import type { Coord } from '@landpass/client/grid'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseParticipants } from './participants-list.ts'
import { CLOCK_LEAD_MS, isNear, judgeSightings, parseSightings } from './sightings.ts'

const ANN = '0x00000000000000000000000000000000000000aa'
const BOB = '0x00000000000000000000000000000000000000bb'
const NOW_MS = 1_768_478_400_000
const PLACE = { x: 52, y: -10 }

/** An entry as the statistics service answers it. */
const PEER = {
  id: ANN,
  address: ANN,
  lastPing: NOW_MS - 5_000,
  parcel: [52, -10],
  position: [838.2, 1.1, -151.7],
}

function judge(json: unknown, places: readonly Coord[] = [PLACE], toleranceParcels = 0) {
  const sightings = parseSightings(json, { address: ANN, nowMs: NOW_MS })
  if (!sightings) return 'no answer'
  return judgeSightings(sightings, { places, toleranceParcels, maxAgeMs: 60_000, nowMs: NOW_MS })
}

const judgePeer = (changes: object) => judge({ ok: true, peers: [{ ...PEER, ...changes }] })

describe('a list of connected players', () => {
  test('names the player by id or by address, in any letter case', () => {
    expect(judgePeer({})).toBe('present')
    expect(judgePeer({ id: undefined })).toBe('present')
    expect(judgePeer({ address: undefined })).toBe('present')
    expect(judgePeer({ id: `0x${ANN.slice(2).toUpperCase()}`, address: null })).toBe('present')
    expect(judgePeer({ id: 'peer-7' })).toBe('present')
    expect(judgePeer({ id: BOB, address: BOB })).toBe('absent')
    expect(judge({ ok: true, peers: [] })).toBe('absent')
  })

  test('counts while its heartbeat is new enough, and not if that is in the future', () => {
    expect(judgePeer({ lastPing: NOW_MS - 60_000 })).toBe('present')
    expect(judgePeer({ lastPing: NOW_MS - 60_001 })).toBe('absent')
    expect(judgePeer({ lastPing: NOW_MS + CLOCK_LEAD_MS })).toBe('present')
    expect(judgePeer({ lastPing: NOW_MS + CLOCK_LEAD_MS + 1 })).toBe('unknown')
  })

  test('a clock that is ahead does not make a heartbeat valid for longer', () => {
    const peer = { ...PEER, lastPing: NOW_MS + CLOCK_LEAD_MS }

    const sightings = parseSightings({ ok: true, peers: [peer] }, { address: ANN, nowMs: NOW_MS })

    expect(sightings).toEqual([{ at: PLACE, lastSeenMs: NOW_MS }])
  })

  test('without a parcel, the place is computed from the position in metres', () => {
    expect(judgePeer({ parcel: undefined })).toBe('present')
    expect(judgePeer({ parcel: null })).toBe('present')
    expect(judgePeer({ parcel: undefined, position: [838.2, 1.1, -144.1] })).toBe('present')
    expect(judgePeer({ parcel: undefined, position: [838.2, 1.1, -144] })).toBe('absent')
  })

  test('a malformed entry about the player is unknown, not absent', () => {
    const odd = [
      { parcel: '52,-10' },
      { parcel: [52] },
      { parcel: [52, -10, 0] },
      { parcel: [52.5, -10] },
      { parcel: undefined, position: undefined },
      { parcel: undefined, position: [1, 2] },
      { parcel: undefined, position: ['1', '2', '3'] },
      { lastPing: undefined },
      { lastPing: '1768478395000' },
      { lastPing: null },
      { id: undefined, address: undefined },
      { id: 7 },
    ]
    for (const changes of odd) expect(judgePeer(changes), JSON.stringify(changes)).toBe('unknown')
    expect(judge({ ok: true, peers: [null] })).toBe('unknown')
    expect(judge({ ok: true, peers: [{ ...PEER, lastPing: 'now' }, PEER] }), 'listed twice').toBe('present')
  })

  test('may have malformed entries about other players', () => {
    const stranger = { id: BOB, address: BOB, lastPing: 'soon', parcel: 'somewhere' }

    expect(judge({ ok: true, peers: [stranger, PEER] })).toBe('present')
    expect(judge({ ok: true, peers: [stranger] })).toBe('absent')
  })

  test('in another form is no answer', () => {
    const none = [undefined, null, 'ok', 7, [], {}, { ok: false, peers: [] }, { peers: [PEER] }, { ok: true }]
    for (const json of none) expect(judge(json), JSON.stringify(json)).toBe('no answer')
    expect(judge({ ok: true, peers: { 0: PEER } })).toBe('no answer')
  })

  test('with random content never fails, and never says that the player is present', () => {
    const junkPeer = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          id: fc.constantFrom(ANN, BOB, 7),
          address: fc.jsonValue(),
          lastPing: fc.jsonValue(),
          parcel: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    )
    const junk = fc.oneof(
      fc.jsonValue(),
      fc.record({ ok: fc.constantFrom(true, 1), peers: fc.array(junkPeer) }),
    )
    fc.assert(
      fc.property(junk, (json) => {
        expect(['absent', 'unknown', 'no answer']).toContain(judge(json))
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('tolerance', () => {
  const coord = fc.record({ x: fc.integer({ min: -200, max: 200 }), y: fc.integer({ min: -200, max: 200 }) })
  const tolerance = fc.integer({ min: 0, max: 10 })

  test('reaches exactly the square around a place', () => {
    fc.assert(
      fc.property(coord, tolerance, (place, parcels) => {
        for (let dx = -parcels - 1; dx <= parcels + 1; dx++) {
          for (let dy = -parcels - 1; dy <= parcels + 1; dy++) {
            const isInside = Math.abs(dx) <= parcels && Math.abs(dy) <= parcels
            expect(isNear({ x: place.x + dx, y: place.y + dy }, [place], parcels)).toBe(isInside)
          }
        }
      }),
      { numRuns: 50 },
    )
  })

  test('grows with its setting and with every place', () => {
    fc.assert(
      fc.property(
        coord,
        fc.array(coord, { maxLength: 5 }),
        coord,
        tolerance,
        (at, places, another, parcels) => {
          if (!isNear(at, places, parcels)) return
          expect(isNear(at, places, parcels + 1)).toBe(true)
          expect(isNear(at, [...places, another], parcels)).toBe(true)
        },
      ),
    )
    expect(isNear({ x: 0, y: 0 }, [], 10)).toBe(false)
  })

  test('applies to the result for a player', () => {
    const answer = { ok: true, peers: [PEER] }

    expect(judge(answer, [{ x: 54, y: -12 }], 2)).toBe('present')
    expect(judge(answer, [{ x: 54, y: -12 }], 1)).toBe('absent')
    expect(judge(answer, [{ x: 0, y: 0 }, PLACE])).toBe('present')
  })
})

describe('a list of the players in a room', () => {
  test('is read in lower case', () => {
    const addresses = [`0x${ANN.slice(2).toUpperCase()}`, BOB]

    expect(parseParticipants({ ok: true, data: { addresses } })).toEqual(new Set([ANN, BOB]))
    expect(parseParticipants({ ok: true, data: { addresses: [] } })).toEqual(new Set())
  })

  test('in another form is no answer', () => {
    const none = [
      undefined,
      null,
      'ok',
      [],
      { ok: true },
      { ok: true, data: null },
      { ok: true, data: [ANN] },
      { ok: true, data: { addresses: ANN } },
      { ok: true, data: { addresses: [ANN, null] } },
      { ok: false, data: { addresses: [ANN] } },
      { data: { addresses: [ANN] } },
    ]
    for (const json of none) expect(parseParticipants(json), JSON.stringify(json)).toBeUndefined()
  })

  test('with random content never fails', () => {
    const junk = fc.record({ ok: fc.constant(true), data: fc.record({ addresses: fc.jsonValue() }) })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), junk), (json) => {
        expect(parseParticipants(json)?.has(ANN) ?? false).toBe(false)
      }),
    )
  })
})
