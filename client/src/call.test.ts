import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as attendance from './attendance.ts'
import { pathOf } from './call.ts'
import * as land from './land.ts'

describe('a call', () => {
  test('is plain data, and can be compared', () => {
    expect(land.parcel({ x: -1, y: 2 })).toEqual({
      method: 'GET',
      path: '/v1/parcels/-1/2',
      form: 'envelope',
    })
    expect(attendance.loadCodes(7, 'secret')).toEqual({
      method: 'POST',
      path: '/addcodes/7',
      form: 'envelope',
      body: { editCode: 'secret' },
    })
  })

  test('writes lists with commas and leaves out undefined values', () => {
    expect(land.marketplace({ status: ['open', 'sold'], sort_by: 'price', limit: 5 }).path).toBe(
      '/v1/marketplace?status=open,sold&sort_by=price&limit=5',
    )
    expect(land.marketplace().path).toBe('/v1/marketplace')
    expect(land.feed().path).toBe('/v2/feed')
    expect(
      land.tiles({
        area: [
          { x: 0, y: 1 },
          { x: -2, y: 3 },
        ],
        include: ['type', 'owner'],
      }).path,
    ).toBe('/v2/tiles?x1=0&y1=1&x2=-2&y2=3&include=type,owner')
  })

  test('encodes values in the address', () => {
    expect(land.estate('7/../x?y#z').path).toBe('/v1/estates/7%2F..%2Fx%3Fy%23z')
    expect(land.search('a&limit=50, é').path).toBe('/v2/search?q=a%26limit%3D50,%20%C3%A9')
    expect(attendance.event('../addcodes').path).toBe('/event/..%2Faddcodes')
  })

  test('keeps every value in its segment, and refuses the three values that would leave it', () => {
    const values = fc.oneof(
      fc.constantFrom('', '.', '..', '...', '%2e%2e', '../..', '.\t.', '/', '\\', '?', '#', '90001'),
      fc.string({ unit: 'grapheme' }),
    )
    fc.assert(
      fc.property(values, (value) => {
        const path = () => pathOf`/v1/estates/${value}/bids`
        if (['', '.', '..'].includes(value)) {
          expect(path).toThrow(RangeError)
          return
        }

        const { pathname, search, hash } = new URL(path(), 'http://land.example')

        expect(pathname.split('/').map(decodeURIComponent)).toEqual(['', 'v1', 'estates', value, 'bids'])
        expect([search, hash]).toEqual(['', ''])
      }),
      { seed: 1, numRuns: 1_000 },
    )
  })

  test('refuses an event name that would change the address, with an error without the edit code', () => {
    for (const name of ['', '.', '..']) {
      const calls = [
        () => attendance.registerEvent(name, { editCode: '012345', coordinates: '1,2' }),
        () => attendance.changeEvent(name, '012345', { enabled: false }),
        () => attendance.loadCodes(name, '012345'),
        () => attendance.report(name, '012345'),
        () => land.estate(name),
      ]
      const sentence = `An id or address in a path must not be empty, "." or "..": this one is "${name}".`

      for (const call of calls) expect(call).toThrow(new RangeError(sentence))
    }
  })

  test('keeps an edit code out of the address', () => {
    const calls = [
      attendance.registerEvent(7, { editCode: '012345', coordinates: '1,2' }),
      attendance.changeEvent(7, '012345', { enabled: false }),
      attendance.loadCodes(7, '012345'),
      attendance.report(7, '012345'),
    ]

    for (const { path, method, body } of calls) {
      expect(path).not.toContain('012345')
      expect(method).not.toBe('GET')
      expect(body).toMatchObject({ editCode: '012345' })
    }
  })

  test('undefined options of an event are not sent; null removes a limit', () => {
    const change: attendance.EventChange = { enabled: true, distribution_end_date: null }

    expect(attendance.changeEvent(7, 'code', change).body).toEqual({
      editCode: 'code',
      options: [
        ['enabled', true],
        ['distribution_end_date', null],
      ],
    })
  })
})
