import { HOUR_MS } from '@landpass/server/clock'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { wrongInAtom, wrongInCalendar } from '@landpass/server/test/support/http/feed-validators'
import { REFERENCE_TIME_MS, testClock } from '@landpass/server/test/support/http/land-server'
import { addressOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { startTinyLand, type TinyLand } from '@landpass/server/test/support/land/tiny-land'
import { ANN, BOB, CLEO } from '@landpass/server/test/support/land/tiny-world'
import { afterAll, beforeAll, expect, test } from 'vitest'

interface Row {
  readonly asset_type: string
  readonly asset_id: string
  readonly offer: { readonly price: string } | null
  readonly rent: { readonly tenant: string; readonly rented_until: number } | null
}

/** Names that XML, calendars and tables have to escape. */
const AWKWARD = `=<b>"\u0007&\u2028,;\\\r\n${'ж'.repeat(60)}`
/** The contract of rents. */
const RENTALS = addressOf('rentals')
const RENT_ENDS_MS = REFERENCE_TIME_MS + HOUR_MS

describeOnOneEngine('land as files', (open) => {
  let land: TinyLand
  const clock = testClock()
  beforeAll(async () => {
    land = await startTinyLand(await open(), clock, { env: { PUBLIC_URL: 'https://land.example' } })
    await land.change(
      { kind: 'change-parcel', x: -2, y: 2, to: { name: AWKWARD } },
      {
        kind: 'change-parcel',
        x: -2,
        y: 1,
        to: { holder: RENTALS, tenant: CLEO, rented_until_ms: RENT_ENDS_MS },
      },
      { kind: 'change-estate', id: '1', to: { tenant: BOB, rented_until_ms: RENT_ENDS_MS } },
      ...(['-2,2', '-2,0'] as const).map((asset_id, i) => ({
        kind: 'open-publication' as const,
        publication: publicationRow(`offer ${i}`, {
          asset_id,
          owner: BOB,
          price: '1500.25',
          // The second one ends after the last year that a calendar can write.
          ...(i === 1 && { expires_at_ms: Number.MAX_SAFE_INTEGER }),
        }),
      })),
    )
  })
  afterAll(() => land.server.close())

  const text = async (path: string) => {
    const { status, text } = await land.server.get(path)
    expect(status, text.slice(0, 200)).toBe(200)
    return text
  }
  const rows = async (query: string) =>
    (await land.server.data<{ land: Row[] }>(`/v2/land?limit=1000&${query}`)).land
  const idsOf = async (query: string) => (await rows(query)).map(({ asset_id }) => asset_id).sort()

  test('an Atom feed is valid, whatever names say, and has the newest offers', async () => {
    const all = await text('/v2/land.atom?sort_by=name')
    const [newest] = (await text('/v2/land.atom?status=open')).match(/<title>.*<\/title>/gs) ?? []

    expect(wrongInAtom(all)).toEqual([])
    expect(all.match(/<entry>/g)?.length).toBe((await rows('')).length)
    expect(all).toContain(
      '<link rel="self" type="application/atom+xml" href="https://land.example/v2/land.atom?sort_by=name"/>',
    )
    expect(all).toContain('href="https://land.example/?parcel=-2,0"')
    expect(newest).toContain('1500.25 MANA')
  })

  test('an entry has the time of the newest offer, which need not be the cheapest', async () => {
    const made = [1, 2].map((minutes) => REFERENCE_TIME_MS - minutes * 60_000)
    const offer = (name: string, price: string, block_time_created_at_ms: number) => ({
      kind: 'open-publication' as const,
      publication: publicationRow(name, { asset_id: '-1,-2', owner: BOB, price, block_time_created_at_ms }),
    })
    await land.change(offer('old and cheap', '7', made[1]!), offer('new and dear', '9', made[0]!))

    const [entry] = (await text('/v2/land.atom?max_price=7')).match(/<entry>.*?<\/entry>/gs) ?? []

    expect(entry).toContain('7 MANA')
    expect(entry).toContain(`parcel=-1,-2#${made[0]}</id>`)
    await land.change({
      kind: 'change-parcel',
      ...{ x: -1, y: -2, to: { updated_at_ms: made[1]! - 60_000 } },
    })
    expect(await text('/v2/land.atom?max_price=7')).toContain(
      `<updated>${new Date(made[0]!).toISOString()}</updated>\n<link rel="alternate" type="text/html" href="https://land.example/?parcel=-1,-2"`,
    )
  })

  test('a calendar is valid, and has the ends of offers and rents that it can write', async () => {
    const all = await text('/v2/land.ics')

    expect(wrongInCalendar(all)).toEqual([])
    expect(all.match(/BEGIN:VEVENT/g)?.length).toBe(4)
    expect(all).toContain(`DTSTART:${new Date(RENT_ENDS_MS).toISOString().replace(/[-:]|\.\d+/g, '')}`)
    expect(wrongInCalendar(await text('/v2/land.ics?min_size=9'))).toEqual([])
    expect(await text('/v2/land.ics?include=parcels&facets=size')).toBe(all)
  })

  test('the validators find what is wrong', async () => {
    const [feed, calendar] = [await text('/v2/land.atom'), await text('/v2/land.ics')]

    for (const broken of [
      feed.replace('</title>', ''),
      feed.replace('<title>', '<title>&nbsp;'),
      feed.replace(/<updated>[^<]*/, '<updated>today'),
      feed.replace(/<entry>.*?<\/id>/s, '<entry>'),
      feed.replace('rel="self"', 'rel="other"'),
      feed.replace('<title>', '<title>\u0007'),
    ])
      expect(wrongInAtom(broken)).not.toEqual([])
    for (const broken of [
      calendar.replace(/UID:[^\r]*\r\n( [^\r]*\r\n)?/, ''),
      calendar.replaceAll('\r\n', '\n'),
      calendar.replace(/DTSTART:\d{8}T\d{6}Z/, 'DTSTART:20261301T000000Z'),
      calendar.replace('SUMMARY:', `SUMMARY:${'x'.repeat(80)}`),
      calendar.replace('SUMMARY:', 'SUMMARY:a,b'),
      calendar.replace('END:VCALENDAR\r\n', ''),
    ])
      expect(wrongInCalendar(broken)).not.toEqual([])
  })

  test('lines of JSON are the rows of the list, in its order', async () => {
    const query = 'sort_by=price&include=parcels&inside_estates=true'
    const lines = (await text(`/v2/land.ndjson?${query}`)).trimEnd().split('\n')

    expect(lines.map((line) => JSON.parse(line))).toEqual(await rows(query))
    expect(lines.join('')).not.toMatch(/[\u0085\u2028\u2029]/)
  })

  test('a table has a column for each field, and keeps ids and names as text', async () => {
    const [header, ...lines] = (
      await text('/v2/land.csv?asset_type=parcel&sort_by=name&include=parcels')
    ).split('\r\n')

    expect(header).toMatch(
      /^asset_type,asset_id,x,y,estate_id,name,.*,offer_price,.*,token_id,contract,parcels$/,
    )
    expect(lines.find((line) => line.startsWith('parcel,"\'-2,2",-2,2,'))).toContain('"\'=<b>')
    expect(lines.join()).toMatch(/,'\d{38,},0x/)
    expect(header!.split(',').length).toBe(31)
  })

  test('GeoJSON has the outlines of estates, with holes and parts', async () => {
    const { features } = JSON.parse(await text('/v2/land.geojson?asset_type=estate')) as {
      features: {
        id: string
        geometry: { type: string; coordinates: number[][][] }
        properties: { id: string }
      }[]
    }

    expect(features.map(({ id, properties }) => [id, properties.id])).toEqual([
      ['estate:1', 'estate:1'],
      ['estate:2', 'estate:2'],
    ])
    const [{ properties }] = JSON.parse(
      await text('/v2/land.geojson?include=parcels&asset_type=estate&max_size=2'),
    ).features
    expect(properties.parcels).toBe('1,1;1,0')
    // Estate 1 is two parcels high; estate 2 has three parcels in an angle.
    expect(features.map(({ geometry }) => geometry.coordinates[0]!.length)).toEqual([5, 7])
  })

  test('cells for maps are runs in the order of the feed, of all that fits', async () => {
    const cells = (query: string) => land.server.data<{ total: number }>(`/v2/land/cells?${query}`)

    // Columns of five parcels from north to south: estate 1 is the second and third of the fourth column.
    expect(await cells(`neighbours_of=1,-1&asset_type=estate`)).toEqual({ total: 1, runs: [16, 2] })
    expect(await cells('q=nothing+is+called+so')).toEqual({ total: 0, runs: [] })
    expect(await cells('nw=2,-2&se=2,-2')).toEqual({ total: 1, runs: [24, 1] })
  })

  test('rents: tenants, lessors and who may build, until they end', async () => {
    expect(await idsOf(`tenant=${CLEO}`)).toEqual(['-2,1'])
    expect(await idsOf(`lessor=${BOB}`)).toEqual(['-2,1'])
    expect(await idsOf('status=rented&inside_estates=true')).toEqual(['-2,1', '1', '1,0', '1,1'])
    expect((await idsOf(`may_update=${BOB}`)).includes('-2,1')).toBe(false)
    // Cleo is the operator of estate 1, and rents a parcel.
    expect(await idsOf(`may_update=${CLEO}`)).toEqual(['-2,1', '1'])
    expect(await idsOf(`may_update=${ANN}&asset_type=estate`)).toEqual([])

    clock.set(RENT_ENDS_MS)

    expect(await idsOf('status=rented')).toEqual([])
    // The chain says of the parcel that the contract of the rent still has the token.
    expect((await idsOf(`may_update=${BOB}`)).includes('-2,1')).toBe(false)
    expect(await idsOf(`may_update=${ANN}&asset_type=estate`)).toEqual(['1'])
    expect(await land.server.data(`/v2/parcels/-2/1/rights?address=${BOB}`)).toMatchObject({
      who: [],
      may_update: false,
      why: expect.stringMatching(/^the owner let it to .* has not claimed the token/),
    })

    await land.change({
      kind: 'change-parcel',
      ...{ x: -2, y: 1, to: { holder: null, tenant: null, rented_until_ms: null } },
    })

    expect((await idsOf(`may_update=${BOB}`)).includes('-2,1')).toBe(true)
  })

  test.each(['/v2/land.csv?limit=3', '/v2/land.atom?cursor=abc', '/v2/land/cells?sort_by=price'])(
    '%s is refused, because files have no such parameter',
    async (path) => {
      const { status, body } = await land.server.get(path)

      expect([status, body.code]).toEqual([400, 'invalid_parameter'])
    },
  )
})
