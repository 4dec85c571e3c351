import { encodeTokenId, tokenIdHex } from '@landpass/client/grid'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import type { LandChange } from '@landpass/server/test/support/land/land-changes'
import { addressOf, estateRow } from '@landpass/server/test/support/land/land-rows'
import { AWKWARD_NAMES } from '@landpass/simulators/demo/names'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

interface Result {
  readonly type: string
  readonly id: string
  readonly name: string | null
  readonly x: number | null
  readonly y: number | null
}

interface Results {
  readonly results: readonly Result[]
  readonly total: number
  readonly limit: number
}

const RADIUS = 10
/** Estate 1 of the demo world has four parcels, estate 5 none any more. */
const ESTATE = '1'
const DISSOLVED = '5'
/** In estate 1. */
const MEMBER = '1,-9'
const OWNER = addressOf('owner of places')
const NOBODY = addressOf('nobody')
const shortened = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`
/** In the order of the documents: the same, beginning, a word, inside; districts, estates, parcels; shorter names. */
const ZEBRAS = [
  ['parcel', 'zebra'],
  ['estate', 'Zebra Hall'],
  ['parcel', 'Zebras'],
  ['parcel', 'ZÉBRA x'],
  ['parcel', 'Zebra crossing'],
  ['estate', 'The zebra'],
  ['parcel', 'A zebra'],
  ['parcel', 'Two-zebra'],
  ['parcel', 'xzebra'],
] as const

describeOnOneEngine('search', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS })
    await land.change(...AWKWARD_NAMES.map((name, i) => named(`${i - 8},9`, name)))
  })
  afterAll(() => land.server.close())

  const pathOf = (q: string, limit = 50) => `/v2/search?q=${encodeURIComponent(q)}&limit=${limit}`
  const search = (q: string, limit = 50) => land.server.data<Results>(pathOf(q, limit))
  const idsOf = async (q: string) => (await search(q)).results.map(({ type, id }) => `${type} ${id}`)

  describe('by place and id', () => {
    test.each([
      ['1,-9'],
      ['1, -9'],
      ['1 -9'],
      ['(1, \u22129)'],
      ['（１，－９）'],
      [String(encodeTokenId({ x: 1, y: -9 }))],
      [tokenIdHex({ x: 1, y: -9 })],
      [tokenIdHex({ x: 1, y: -9 }).toUpperCase()],
    ])('%j is a parcel, with the owner of its estate', async (q) => {
      const estate = land.reference.estates.find(({ id }) => id === ESTATE)!

      expect(await search(q)).toEqual({
        results: [
          {
            type: 'parcel',
            id: MEMBER,
            name: 'Old Orchard',
            x: 1,
            y: -9,
            parcels: 1,
            estates: null,
            owner: estate.owner,
          },
        ],
        total: 1,
        limit: 50,
      })
    })

    test('a number is an estate, with a parcel of it to look at', async () => {
      for (const q of ['#1', '1', ' # 1', '001']) {
        const [first] = (await search(q)).results
        const members = land.reference.parcels.filter(({ estate_id }) => estate_id === ESTATE)

        expect(first).toMatchObject({ type: 'estate', id: ESTATE, name: 'Quiet Orchard', parcels: 4 })
        expect(members.map(({ id }) => id)).toContain(`${first!.x},${first!.y}`)
      }
    })

    test('what is not there is not found', async () => {
      for (const q of ['11,0', '-11 4', '#99', `#${DISSOLVED}`, tokenIdHex({ x: 99, y: 1 }), '9'.repeat(78)])
        expect(await search(q), q).toEqual({ results: [], total: 0, limit: 50 })
    })

    test('a district is found by its id and its name, a disabled one by neither', async () => {
      const [district] = land.reference.districts() as { id: string; name: string; parcel_count: string }[]

      for (const q of [district!.id, district!.id.toUpperCase(), district!.name, "clockmakers' h"])
        expect((await search(q)).results, q).toEqual([
          {
            type: 'district',
            id: district!.id,
            name: 'Clockmakers’ Hill',
            x: 7,
            y: 7,
            parcels: Number(district!.parcel_count),
            estates: null,
            owner: null,
          },
        ])
      for (const q of ['20a1d572-a4dd-4c00-b2de-4d389d6e111e', 'Closed Works'])
        expect((await search(q)).total).toBe(0)
    })

    test('an address is found with what it owns, and one that owns nothing as well', async () => {
      await land.change(
        { kind: 'change-parcel', x: 3, y: 4, to: { owner: OWNER } },
        { kind: 'change-parcel', x: 4, y: 4, to: { owner: OWNER } },
        { kind: 'change-estate', id: DISSOLVED, to: { owner: OWNER } },
        { kind: 'change-estate', id: '2', to: { owner: OWNER } },
      )
      const address = (id: string) => ({ type: 'address', id, name: null, owner: id })

      for (const q of [OWNER, OWNER.toUpperCase(), ` ${OWNER} `])
        expect((await search(q)).results).toEqual([{ ...address(OWNER), x: 3, y: 4, parcels: 2, estates: 1 }])
      expect((await search(NOBODY)).results).toEqual([
        { ...address(NOBODY), x: null, y: null, parcels: 0, estates: 0 },
      ])
      // A part of an address finds owners, in any letter case and as pages shorten addresses.
      for (const q of [OWNER.slice(0, 20), OWNER.slice(0, 41).toUpperCase(), shortened(OWNER)])
        expect((await search(q)).results, q).toEqual([
          { ...address(OWNER), x: 3, y: 4, parcels: 2, estates: 1 },
        ])
      expect((await search(NOBODY.slice(0, 20))).total).toBe(0)
      const { results, total } = await search('0x', 3)
      expect([results.length, total], 'no digit is no part of an address').toEqual([0, 0])
    })
  })

  describe('by name', () => {
    test('every parcel, estate and district is found by its own name, whatever that is', async () => {
      const { parcels, estates } = land.reference
      const living = new Set(parcels.map(({ estate_id }) => estate_id))
      const names = [
        ...parcels.map(({ id, data }) => [`parcel ${id}`, data.name] as const),
        ...estates
          .filter(({ id }) => living.has(id))
          .map(({ id, data }) => [`estate ${id}`, data.name] as const),
        ...(land.reference.districts() as { id: string; name: string }[]).map(
          ({ id, name }) => [`district ${id}`, name] as const,
        ),
      ].flatMap(([id, name]) => (name ? [[id, name] as const] : []))
      expect(names.length).toBeGreaterThan(AWKWARD_NAMES.length + 20)

      for (const [id, name] of names) {
        expect(await idsOf(name), name).toContain(id)
        expect(await idsOf(` ${name.toUpperCase().normalize('NFD')}`), name).toContain(id)
      }
    })

    test('results come in the order of the documents', async () => {
      const changes = ZEBRAS.map(([type, name], i): LandChange => {
        if (type === 'parcel') return named(`${i},8`, name)
        return { kind: 'change-estate', id: name === 'Zebra Hall' ? '8' : '3', to: { name } }
      })
      await land.change(...changes)

      const { results, total } = await search(' Zebra ')
      expect(results.map(({ type, name }) => [type, name])).toEqual(ZEBRAS)
      expect(total).toBe(ZEBRAS.length)
      expect(await search('zebra', 3)).toEqual({ results: results.slice(0, 3), total, limit: 3 })
    })

    test('a result that is found by its id is not repeated for its name', async () => {
      await land.change(named('6,6', '4'), { kind: 'change-estate', id: '4', to: { name: '4' } })

      expect((await idsOf('4')).slice(0, 2)).toEqual(['estate 4', 'parcel 6,6'])
      expect((await idsOf('4')).filter((id) => id === 'estate 4')).toHaveLength(1)
    })

    test('another name is found at once, the old one no longer', async () => {
      await land.change(named('-6,6', 'Before the flood'))
      expect(await idsOf('before the FLOOD')).toEqual(['parcel -6,6'])

      await land.change(named('-6,6', '홍수 뒤'))
      expect(await idsOf('before the flood')).toEqual([])
      expect(await idsOf('홍수')).toEqual(['parcel -6,6'])

      await land.change(named('-6,6', null))
      expect(await idsOf('홍수 뒤')).toEqual([])
    })

    test('estates come and go with their parcels', async () => {
      const join = (estate_id: string | null): LandChange => ({
        kind: 'change-parcel',
        x: 0,
        y: 5,
        to: { estate_id, estate_position: estate_id === null ? null : 0 },
      })
      await land.change({ kind: 'create-estate', estate: estateRow('900', { name: 'Ephemeral' }) })
      expect(await idsOf('ephemeral')).toEqual([])
      expect(await idsOf('#900')).toEqual([])

      await land.change(join('900'))
      expect((await search('ephemeral')).results).toMatchObject([{ id: '900', x: 0, y: 5, parcels: 1 }])
      // It took the rows of no other: all are found as before
      expect(await idsOf('Quiet Orchard')).toEqual(['estate 1'])

      await land.change(join(null))
      expect(await idsOf('ephemeral')).toEqual([])
      expect(await idsOf('#900')).toEqual([])
    })
  })

  test('there is an answer to whatever people type', async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 110 }),
      fc.string({ unit: fc.constantFrom(...' ,;#()[]0x19-+.*?\\^$'), minLength: 1, maxLength: 40 }),
    )
    await fc.assert(
      fc.asyncProperty(text, async (q) => {
        const length = [...q.trim()].length
        const { status, body } = await land.server.get(pathOf(q))

        expect(status, JSON.stringify(q)).toBe(length >= 1 && length <= 100 ? 200 : 400)
        if (status === 200) expect((body.data as Results).results.length).toBeLessThanOrEqual(50)
      }),
      {
        numRuns: 100,
        examples: [['a'.repeat(100)], [' '.repeat(300)], ['🌱'.repeat(100)], ['🌱'.repeat(101)]],
      },
    )
  })

  test('a text or a limit that is not allowed is refused by its name', async () => {
    const allowed = 'text of 1 to 100 characters, spaces around it not counted'
    for (const query of ['', 'q=', 'q=%20%E3%80%80', `q=${'a'.repeat(101)}`, 'q=a&q=b']) {
      const { error, data } = await land.refusal(`/v2/search?${query}`, 400, 'invalid_parameter')
      expect([data.parameter, data.allowed], query).toEqual(['q', allowed])
      expect(error).toContain(`must be ${allowed}.`)
    }
    for (const limit of ['0', '51', 'ten', '1.5', '-1']) {
      const { data } = await land.refusal(`/v2/search?q=a&limit=${limit}`, 400, 'invalid_parameter')
      expect([data.parameter, data.allowed], limit).toEqual(['limit', 'a whole number from 1 to 50'])
    }
    expect((await land.server.data<Results>('/v2/search?q=o')).limit).toBe(10)
    for (const path of ['/search?q=a', '/v1/search?q=a']) await land.refusal(path, 404, 'not_found')
  })

  test('a copy that is still right costs a 304, until the land changes', async () => {
    const ask = (tag: string) => land.server.get(pathOf('orchard'), { 'if-none-match': tag })
    const tag = (await ask('')).headers.get('etag')!

    expect((await ask(tag)).status).toBe(304)
    await land.change(named('5,5', 'Orchard house'))
    const { status, headers } = await ask(tag)
    expect(status).toBe(200)
    expect(headers.get('etag')).not.toBe(tag)
  })

  test('the answer to the same text is the same in any spelling, until the land changes', async () => {
    const [first, again] = [await search('old orchard'), await search(' OLD  Orchard')]
    expect(again).toEqual(first)
    expect((await search('old orchard', 1)).limit).toBe(1)

    await land.change(named('6,6', 'Old orchard'))
    expect((await search('old orchard')).total).toBe(first.total + 1)
  })
})

function named(place: string, name: string | null): LandChange {
  const [x = 0, y = 0] = place.split(',').map(Number)
  return { kind: 'change-parcel', x, y, to: { name } }
}
