import { encodeTokenId, tokenIdHex } from '@landpass/client/grid'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { afterAll, beforeAll, expect, test } from 'vitest'

// 67 x 67 parcels: more than an answer that is made whole, so /map of all is streamed.
const RADIUS = 33
const AWKWARD_NAMES = [
  '\u2028 and \u2029 and \u0085',
  '__proto__',
  '"Quoted" \\ back\\slash',
  '\u0000'.replace('\u0000', '\u0001\u001f\u007f'),
  '</script><b>&amp;',
  '👩‍🚀 𝒳 é',
  '',
  'null',
]

describeOnOneEngine('parcels, estates and the map', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: RADIUS, emptyAreas: '40,-2,42,2' })
  })
  afterAll(() => land.server.close())

  test('a parcel has exactly the fields of the table, whatever its kind', async () => {
    const { parcels, publications } = land.reference
    const forSale = publications.filter(({ shown }) => shown.status === 'open')
    const kinds = [
      parcels.filter(({ estate_id }) => estate_id !== null),
      parcels.filter(({ district_id }) => district_id !== null),
      parcels.filter(({ owner }) => owner === null),
      parcels.filter(({ operator, update_operator }) => operator ?? update_operator),
      parcels.filter(({ data }) => data.name || data.description || data.ipns),
      parcels.filter(({ id }) => forSale.some(({ shown }) => shown.asset_id === id)),
      parcels.filter(({ tags }) => Object.keys(tags).length === 0),
      parcels,
    ]
    for (const kind of kinds) {
      expect(kind.length).toBeGreaterThan(0)
      for (const { id, x, y } of kind.slice(0, 5))
        await land.expectData(`/parcels/${x}/${y}`, land.reference.parcel(id, land.nowMs()))
    }
  })

  test('every parcel that is for sale is answered with its offer, to the last decimal', async () => {
    const offered = land.reference.publications.filter(({ shown }) => shown.asset_type === 'parcel')
    for (const { shown } of offered.filter(({ shown }) => shown.status === 'open')) {
      const [x, y] = shown.asset_id.split(',')
      await land.expectData(`/v1/parcels/${x}/${y}`, land.reference.parcel(shown.asset_id, land.nowMs()))
    }

    const exact = offered.find(({ shown }) => shown.status === 'open' && String(shown.price).length > 20)!
    const [x, y] = exact.shown.asset_id.split(',')
    expect((await land.server.get(`/parcels/${x}/${y}`)).text).toContain(
      `"price":${String(exact.shown.price)},`,
    )
  })

  test('a parcel is found by its token id, in decimal and in hex of any case', async () => {
    for (const [x, y] of [
      [0, 0],
      [-RADIUS, RADIUS],
      [RADIUS, -RADIUS],
      [-1, -1],
      [1, 2],
    ] as const) {
      const expected = land.reference.parcel(`${x},${y}`, land.nowMs())
      const hex = tokenIdHex({ x, y })
      const forms = [
        encodeTokenId({ x, y }),
        hex,
        hex.toUpperCase(),
        `0x${hex.slice(2).replace(/^0+(?=.)/, '')}`,
      ]
      for (const form of forms) await land.expectData(`/parcels/${form}`, expected)
    }
  })

  test('a token id outside the world is not found, and an invalid one is refused', async () => {
    const outside = [
      encodeTokenId({ x: RADIUS + 1, y: 0 }),
      tokenIdHex({ x: 0, y: -RADIUS - 1 }),
      tokenIdHex({ x: 41, y: 0 }), // in the world, without a parcel
      tokenIdHex({ x: 37, y: 0 }), // in the box around the world, in none of its rectangles
      1n << 255n,
      (1n << 256n) - 1n - (1n << 200n),
      10n ** 76n,
    ]
    for (const id of outside) await land.refusal(`/parcels/${id}`, 404, 'parcel_not_found')

    const garbage = [
      '-1',
      'abc',
      '0x',
      '0xg',
      '1e10',
      '1.5',
      '%20',
      '0b1',
      1n << 256n,
      `0x1${'0'.repeat(64)}`,
    ]
    for (const id of garbage) {
      const { error, data } = await land.refusal(`/parcels/${id}`, 400, 'invalid_parameter')
      expect(data.parameter).toBe('tokenId')
      expect(data.value).toBe(decodeURIComponent(String(id)))
      expect(error).toContain('256 bits')
    }
  })

  test('the encoded id is the token id in hex', async () => {
    for (const [x, y] of [
      [-RADIUS, -RADIUS],
      [-RADIUS, RADIUS],
      [0, 0],
      [7, -29],
    ] as const) {
      await land.expectData(`/parcels/${x}/${y}/encodedId`, { encoded_id: tokenIdHex({ x, y }) })
      await land.expectData(`/parcels/${x},${y}/encodedId`, { encoded_id: tokenIdHex({ x, y }) })
    }
    await land.expectData('/parcels/-28/-29/encodedId', {
      encoded_id: '0xffffffffffffffffffffffffffffffe4ffffffffffffffffffffffffffffffe3',
    })
  })

  test('coordinates in a path are whole numbers within the bounds, which the refusal says', async () => {
    const below = ['', '/encodedId', '/bids', '/publications', '/mortgages']
    for (const wrong of ['43', '-34', '151', '1.5', 'abc', '-0', '01', '1e1', '+1', '%201', '0x1']) {
      for (const rest of below) {
        const { error, data } = await land.refusal(`/parcels/${wrong}/0${rest}`, 400, 'invalid_parameter')
        expect(data).toEqual({
          parameter: 'x',
          value: decodeURIComponent(wrong),
          allowed: 'a whole number from -33 to 42',
        })
        expect(error).toContain('x is ')
        expect(error).toContain('from -33 to 42')
      }
    }
    const north = await land.refusal('/parcels/0/34', 400, 'invalid_parameter')
    expect(north.data).toMatchObject({
      parameter: 'y',
      value: '34',
      allowed: 'a whole number from -33 to 33',
    })
  })

  test('a place between the rectangles of the world is out of bounds; one without a parcel is not found', async () => {
    for (const rest of ['', '/encodedId', '/bids', '/publications', '/mortgages']) {
      const { data } = await land.refusal(`/parcels/37/0${rest}`, 400, 'invalid_parameter')
      expect(data.value).toBe('37,0')
      expect(data.allowed).toContain('-33,-33 to 33,33 or 40,-2 to 42,2')
    }
    const { data } = await land.refusal('/parcels/41/0', 404, 'parcel_not_found')
    expect(data).toEqual({ x: 41, y: 0 })
    for (const rest of ['/bids', '/publications', '/mortgages'])
      await land.expectData(`/parcels/41/0${rest}`, [])
  })

  test('one segment x,y works like two', async () => {
    const older = ['/bids', '/publications', '/mortgages', '/encodedId', '']
    const newer = [
      '/value',
      '/rights',
      `/rights?address=${addressOf('someone')}`,
      '/offers',
      '/rental-offers',
      '',
    ]
    for (const [parcels, below] of [
      ['/parcels', older],
      ['/v2/parcels', newer],
    ] as const)
      for (const rest of below) {
        const ofOne = await land.server.get(`${parcels}/5,-7${rest}`)
        expect([ofOne.status, ofOne.text]).toEqual([
          200,
          (await land.server.get(`${parcels}/5/-7${rest}`)).text,
        ])
        for (const wrong of ['34,0x', '1,2,3', '1.5,0', '-0,1', '01,1', '5,'])
          expect((await land.server.get(`${parcels}/${wrong}${rest}`)).status).toBe(400)
        const { data } = await land.refusal(`${parcels}/37,0${rest}`, 400, 'invalid_parameter')
        expect(data).toMatchObject({ value: '37,0' })
      }
    await land.refusal('/v2/parcels/5,-7/offers?limit=1', 400, 'invalid_parameter')
    for (const [one, two] of [
      ['5,-7', '5/-7'],
      ['x', '0/0'],
    ]) {
      const image = async (place: string) =>
        (await land.server.ask('GET', `/v2/parcels/${place}/map.png?width=100&height=100`)).bytes
      expect((await image(one!)).equals(await image(two!)), one).toBe(true)
    }
  })

  test('an estate has exactly the fields of the table, its parcels in the order in which they were added', async () => {
    expect(land.reference.estates.length).toBeGreaterThan(20)
    for (const { id } of land.reference.estates)
      await land.expectData(`/estates/${id}`, land.reference.estate(id, land.nowMs()))
  })

  test('an unknown estate is not found, and has neither bids nor publications', async () => {
    for (const id of ['999999', '0', '-1', '1e0', '01', 'abc', '__proto__', "'", '%F0%9F%8C%B1', '1,2'])
      expect((await land.refusal(`/estates/${id}`, 404, 'estate_not_found')).data).toEqual({
        id: decodeURIComponent(id),
      })
    await land.expectData('/estates/999999/bids', [])
    await land.expectData('/estates/999999/publications', [])
  })

  test('an owner has its parcels and estates, in any letter case, with and without a status', async () => {
    const owners = [...new Set(land.reference.parcels.map(({ owner }) => owner))].filter(
      (one) => one !== null,
    )
    const estateOwners = new Set(land.reference.estates.map(({ owner }) => owner))
    for (const owner of [...owners, ...estateOwners].filter((_, i) => i % 21 === 0)) {
      const now = land.nowMs()
      await land.expectData(`/addresses/${owner}/parcels`, land.reference.parcelsOf(owner, now))
      await land.expectData(`/addresses/${owner}/estates`, land.reference.estatesOf(owner, now))
      const shouted = owner.toUpperCase()
      await land.expectData(
        `/v1/addresses/${shouted}/parcels?status=all`,
        land.reference.parcelsOf(owner, now),
      )
      for (const statuses of [
        ['open'],
        ['sold'],
        ['cancelled'],
        ['open', 'sold'],
        ['sold', 'cancelled'],
      ] as const) {
        const path = (kind: string) => `/addresses/${owner}/${kind}?status=${statuses.join(',')}`
        await land.expectData(path('parcels'), land.reference.parcelsOf(owner, now, statuses))
        await land.expectData(path('estates'), land.reference.estatesOf(owner, now, statuses))
      }
    }
    await land.expectData(`/addresses/${addressOf('nobody')}/parcels`, [])
    await land.expectData(`/addresses/${addressOf('nobody')}/estates?status=open`, [])
  })

  test('with several statuses an asset is shown with the newest of their publications', async () => {
    const { x, y, owner } = land.reference.parcels.find(
      (one) => one.owner && !one.estate_id && !one.district_id,
    )!
    const now = land.nowMs()
    const facts = { asset_id: `${x},${y}`, owner: owner! }
    await land.change(
      {
        kind: 'open-publication',
        publication: publicationRow('older, open', { ...facts, block_time_created_at_ms: now - 9_000 }),
      },
      {
        kind: 'open-publication',
        publication: publicationRow('newer, cancelled', {
          ...facts,
          status: 'cancelled',
          block_time_created_at_ms: now - 8_000,
          block_time_updated_at_ms: now - 7_000,
        }),
      },
    )
    for (const statuses of [['open', 'cancelled'], ['open'], ['cancelled']] as const)
      await land.expectData(
        `/addresses/${owner}/parcels?status=${statuses}`,
        land.reference.parcelsOf(owner!, now, statuses),
      )
  })

  test('an invalid address is refused', async () => {
    const paths = ['parcels', 'estates', 'bids', 'contributions', 'mortgages'].map(
      (rest) => `/addresses/@/${rest}`,
    )
    for (const path of [...paths, '/bids/@/assets', '/mortgages/@/parcels', '/parcels/0/0/bids?bidder=@']) {
      for (const wrong of [
        '0x12',
        addressOf('a').slice(2),
        `${addressOf('a')}0`,
        `0x${'g'.repeat(40)}`,
        'ann.eth',
      ]) {
        const { data, error } = await land.refusal(path.replace('@', wrong), 400, 'invalid_parameter')
        expect(data).toMatchObject({
          parameter: path.includes('bidder') ? 'bidder' : 'address',
          value: wrong,
          allowed: 'an address: 0x and 40 hex digits',
        })
        expect(error).toContain(wrong)
      }
    }
  })

  test('/map shows an area: parcels from west to east and north to south, and the estates that touch it', async () => {
    for (const [nw, se] of [
      [
        [0, 0],
        [0, 0],
      ],
      [
        [-5, 5],
        [5, -5],
      ],
      [
        [-33, 33],
        [-30, -33],
      ],
      [
        [-33, -30],
        [33, -33],
      ],
      [
        [30, 2],
        [42, -2],
      ],
      [
        [-20, 12],
        [11, -9],
      ],
    ] as const) {
      const query = `nw=${nw}&se=${se}`
      await land.expectData(`/map?${query}`, land.reference.map(nw, se, land.nowMs()))
      await land.expectData(`/parcels?${query}`, land.reference.area(nw, se, land.nowMs()))
    }
  })

  test('the whole world, and nearly all of it, is streamed, and is the same as its parts', async () => {
    await land.expectData('/map?nw=-33,33&se=33,-33', land.reference.map([-33, 33], [33, -33], land.nowMs()))
    await land.expectData('/map?nw=-33,32&se=33,-33', land.reference.map([-33, 32], [33, -33], land.nowMs()))
    const all = await land.server.ask('GET', '/map?nw=-33,33&se=33,-33')
    expect(all.headers['transfer-encoding']).toBe('chunked')
    const part = await land.server.ask('GET', '/map?nw=-3,3&se=3,-3')
    expect(part.headers['content-length']).toBe(String(part.bytes.length))
  })

  test('the corners of an area are required, in the world, and the right way round', async () => {
    const wrong: [string, string][] = [
      ['', 'nw'],
      ['nw=0,0', 'se'],
      ['se=0,0', 'nw'],
      ['nw=&se=0,0', 'nw'],
      ['nw=0,0&se=1', 'se'],
      ['nw=0,0&se=1,x', 'se'],
      ['nw=0, 0&se=1,-1', 'nw'],
      ['nw=0,0&se=43,-1', 'se'],
      ['nw=-34,0&se=1,-1', 'nw'],
      ['nw=37,0&se=41,0', 'nw'],
      ['nw=1,0&se=0,0', 'nw'],
      ['nw=0,0&se=0,1', 'nw'],
      ['nw=0,0&nw=0,0&se=1,-1', 'nw'],
    ]
    for (const [query, parameter] of wrong) {
      const { data, error } = await land.refusal(`/map?${query}`, 400, 'invalid_parameter')
      expect(data.parameter, query).toBe(parameter)
      expect(data.allowed, query).toBeTruthy()
      expect(error, query).toMatch(new RegExp(`^${parameter} is .+, but must be .+\\.$`))
      if (query === '') continue // for /parcels that is the list
      expect((await land.refusal(`/parcels?${query}`, 400, 'invalid_parameter')).data.parameter).toBe(
        parameter,
      )
    }
  })

  test('names with special characters are unchanged, and other parcels too', async () => {
    const [estate] = land.reference.estates
    for (const [i, name] of AWKWARD_NAMES.entries()) {
      await land.change(
        { kind: 'change-parcel', x: i, y: 3, to: { name, description: `${name}${name}`, ipns: null } },
        { kind: 'change-estate', id: estate!.id, to: { name, description: null } },
      )
      await land.expectData(`/parcels/${i}/3`, land.reference.parcel(`${i},3`, land.nowMs()))
      await land.expectData(`/estates/${estate!.id}`, land.reference.estate(estate!.id, land.nowMs()))
    }
    await land.expectData('/map?nw=-1,4&se=9,2', land.reference.map([-1, 4], [9, 2], land.nowMs()))
  })
})
