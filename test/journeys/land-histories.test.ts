import { encodeTokenId } from '@landpass/client/grid'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { addressOf, bidRow, hashOf, publicationRow } from '@landpass/server/test/support/land/land-rows'
import { ESTATE_REGISTRY, LAND_REGISTRY } from '@landpass/server/test/support/land/registries'
import { afterAll, beforeAll, expect, test } from 'vitest'

const STATUSES = ['open', 'cancelled', 'sold'] as const
const MORTGAGE_STATUSES = ['pending', 'cancelled', 'ongoing', 'paid', 'defaulted', 'claimed'] as const

describeOnOneEngine('bids, mortgages, publications, contributions and districts', (open) => {
  let land: DemoLand
  beforeAll(async () => {
    land = await startDemoLand(await open(), { radius: 30 })
    const provenance = {
      tx_hash: hashOf('found here'),
      log_index: 7,
      contract_address: addressOf('bid contract'),
    }
    const sameTime = { block_time_created_at_ms: land.nowMs() - 1_000, asset_id: '1,1' }
    const [estate] = land.reference.estates.filter(({ id }) => id === '1')
    await land.change(
      { kind: 'place-bid', bid: bidRow('with provenance', { ...provenance, asset_id: '1,1' }) },
      ...['a', 'b', 'c'].map((name) => ({ kind: 'place-bid' as const, bid: bidRow(name, sameTime) })),
      { kind: 'place-bid', bid: bidRow('exact', { asset_id: '1,2', price: '0.000000000000000001' }) },
      {
        kind: 'place-bid',
        bid: bidRow('estate', { asset_id: estate!.id, asset_type: 'estate', fingerprint: hashOf('f') }),
      },
      { kind: 'place-bid', bid: bidRow('unknown estate', { asset_id: '424242', asset_type: 'estate' }) },
      { kind: 'place-bid', bid: bidRow('off the map', { asset_id: '900,900' }) },
    )
  })
  afterAll(() => land.server.close())

  test('one bid, by its id in any letter case', async () => {
    const { bids } = land.reference
    expect(bids.length).toBeGreaterThan(200)
    for (const { shown } of bids.filter((_, i) => i % 27 === 0)) {
      await land.expectData(`/bids/${shown.id}`, land.reference.bid(shown.id))
      await land.expectData(`/v1/bids/${shown.id.toUpperCase()}`, land.reference.bid(shown.id))
    }
    for (const id of [hashOf('nothing'), '0x12', 'abc', "'", '%0A'])
      await land.refusal(`/bids/${id}`, 404, 'bid_not_found')
  })

  test('an id that is not valid in the database is refused', async () => {
    const paths = ['/bids/@', '/publications/@', '/estates/@', '/estates/@/bids', '/estates/@/publications']
    for (const path of [...paths, '/assets/@/bids', '/assets/@/publications']) {
      for (const id of ['%00', 'a%00b', 'a'.repeat(101)]) {
        const { data } = await land.refusal(path.replace('@', id), 400, 'invalid_parameter')
        expect(data).toMatchObject({ allowed: 'an id of 1 to 100 characters' })
      }
    }
  })

  test('token ids of bids are exact decimal digits', async () => {
    const ofParcels = land.reference.bids.filter(({ shown }) => shown.token_address === LAND_REGISTRY)
    for (const { shown } of ofParcels.filter((_, i) => i % 9 === 0)) {
      const [x = 0, y = 0] = shown.asset_id.split(',').map(Number)
      const { text } = await land.server.get(`/bids/${shown.id}`)
      expect(text).toContain(`"token_id":"${encodeTokenId({ x, y })}"`)
    }
    const ofEstate = land.reference.bids.find(({ shown }) => shown.token_address === ESTATE_REGISTRY)!
    expect((await land.server.get(`/bids/${ofEstate.shown.id}`)).text).toContain(
      `"token_id":"${ofEstate.shown.asset_id}"`,
    )
  })

  test('the bids that an address made or received, newest first', async () => {
    const parties = land.reference.bids.flatMap(({ shown }) => [shown.bidder, shown.seller])
    for (const address of [...new Set(parties)].filter((_, i) => i % 12 === 0)) {
      await land.expectData(`/addresses/${address}/bids`, land.reference.bidsOfAddress(address))
      for (const status of STATUSES)
        await land.expectData(
          `/addresses/${address.toUpperCase()}/bids?status=${status}`,
          land.reference.bidsOfAddress(address, [status]),
        )
    }
    const bidder = addressOf('bidder')
    await land.expectData(`/addresses/${bidder}/bids?status=all`, land.reference.bidsOfAddress(bidder))
    await land.expectData(`/addresses/${addressOf('nobody')}/bids`, [])
  })

  test('the bids on a parcel or an estate, by status and bidder, under all their addresses', async () => {
    const names = new Set(land.reference.bids.map(({ shown }) => `${shown.asset_type} ${shown.asset_id}`))
    for (const name of [...names].filter((_, i) => i % 15 === 0 || i > names.size - 5)) {
      const [type, id = ''] = name.split(' ') as ['parcel' | 'estate', string]
      const own = type === 'parcel' ? `/parcels/${id.replace(',', '/')}/bids` : `/estates/${id}/bids`
      const all = land.reference.bidsOfAsset(type, id) as { bidder: string }[]
      if (id !== '900,900') await land.expectData(own, all)
      await land.expectData(`/assets/${id}/bids`, all)
      await land.expectData(`/assets/${id}/bids?asset_type=${type}&status=all`, all)
      await land.expectData(`/assets/${id}/bids?asset_type=${type === 'parcel' ? 'estate' : 'parcel'}`, [])
      if (id === '900,900') continue
      for (const statuses of [['open'], ['sold'], ['cancelled', 'open']] as const)
        await land.expectData(`${own}?status=${statuses}`, land.reference.bidsOfAsset(type, id, { statuses }))
      const { bidder } = all[0]!
      await land.expectData(
        `${own}?bidder=0x${bidder.slice(2).toUpperCase()}`,
        land.reference.bidsOfAsset(type, id, { bidder }),
      )
    }
    await land.expectData('/parcels/1,1/bids', land.reference.bidsOfAsset('parcel', '1,1'))
    await land.expectData('/parcels/0/0/bids?bidder=0x0000000000000000000000000000000000000000', [])
  })

  test('sanitize=false adds where on the chain a bid was found', async () => {
    for (const path of ['/parcels/1/1/bids', '/parcels/1,1/bids', '/assets/1,1/bids']) {
      const whole = land.reference.bidsOfAsset('parcel', '1,1', { sanitize: false })
      expect(whole).toContainEqual(expect.objectContaining({ log_index: 7, tx_hash: hashOf('found here') }))
      await land.expectData(`${path}?sanitize=false`, whole)
      await land.expectData(`${path}?sanitize=true`, land.reference.bidsOfAsset('parcel', '1,1'))
      for (const wrong of ['0', 'no', 'False', 'false,false']) {
        const { data } = await land.refusal(`${path}?sanitize=${wrong}`, 400, 'invalid_parameter')
        expect(data).toEqual({ parameter: 'sanitize', value: wrong, allowed: 'true or false' })
      }
    }
    await land.expectData(
      '/estates/1/bids?sanitize=false',
      land.reference.bidsOfAsset('estate', '1', { sanitize: false }),
    )
  })

  test('the assets that an address bid on or has bids for, each once', async () => {
    const parties = land.reference.bids.flatMap(({ shown }) => [shown.bidder, shown.seller])
    for (const address of [...new Set(parties)].filter(
      (_, i) => i % 4 === 1 || parties[i] === addressOf('bidder'),
    )) {
      await land.expectData(`/bids/${address}/assets`, land.reference.bidAssets(address, land.nowMs()))
      for (const status of STATUSES)
        await land.expectData(
          `/bids/${address}/assets?status=${status}`,
          land.reference.bidAssets(address, land.nowMs(), [status]),
        )
    }
    const bidder = addressOf('bidder')
    expect(land.reference.bidAssets(bidder, land.nowMs())).toHaveLength(3) // neither the unknown estate nor off the map
    await land.expectData(`/bids/0X${bidder.slice(2)}/assets`, land.reference.bidAssets(bidder, land.nowMs()))
  })

  test('all publications that an asset ever had, newest first', async () => {
    const names = new Set(
      land.reference.publications.map(({ shown }) => `${shown.asset_type} ${shown.asset_id}`),
    )
    for (const name of [...names].filter((_, i) => i % 15 === 0)) {
      const [type, id = ''] = name.split(' ') as ['parcel' | 'estate', string]
      const own =
        type === 'parcel' ? `/parcels/${id.replace(',', '/')}/publications` : `/estates/${id}/publications`
      const all = land.reference.publicationsOf(type, id)
      expect(all.length).toBeGreaterThan(0)
      for (const path of [
        own,
        `/v1${own}`,
        `/assets/${id}/publications`,
        `/assets/${id}/publications?asset_type=${type}`,
      ])
        await land.expectData(path, all)
      if (type === 'parcel') await land.expectData(`/parcels/${id}/publications`, all)
    }
    const never = land.reference.parcels.find(({ owner }) => owner === null)!
    await land.expectData(`/parcels/${never.x}/${never.y}/publications`, [])
    await land.expectData('/assets/424242/publications', [])
    await land.refusal('/assets/1/publications?asset_type=district', 400, 'invalid_parameter')
  })

  test('the publication that a transaction made, and the first of two', async () => {
    const made = { tx_hash: hashOf('two at once'), asset_id: '2,2' }
    await land.change(
      { kind: 'open-publication', publication: publicationRow('first', { ...made, price: '2' }) },
      // A later log of the same block, though it comes first by every other order
      {
        kind: 'open-publication',
        publication: publicationRow('second', {
          ...made,
          asset_id: '2,3',
          price: '1',
          contract_id: hashOf('0'),
        }),
      },
    )
    // Moves the first behind the second in the table: what is read first must not decide
    const first = land.reference.publications.at(-2)!.key
    const closing = { status: 'cancelled', buyer: null, atMs: land.nowMs() } as const
    await land.change({ kind: 'close-publication', key: first, to: closing })
    for (const { shown } of land.reference.publications.filter(
      (_, i, all) => i % 33 === 0 || i > all.length - 4,
    )) {
      await land.expectData(`/publications/${shown.tx_hash}`, land.reference.publication(shown.tx_hash))
      await land.expectData(
        `/publications/${shown.tx_hash.toUpperCase()}`,
        land.reference.publication(shown.tx_hash),
      )
    }
    for (const hash of [hashOf('nothing'), '0x', 'abc'])
      await land.refusal(`/publications/${hash}`, 404, 'publication_not_found')
  })

  test('mortgages of an address and of a parcel, by status', async () => {
    const { mortgages } = land.reference
    expect(new Set(mortgages.map(({ status }) => status)).size).toBe(MORTGAGE_STATUSES.length)
    for (const borrower of new Set(mortgages.map((one) => one.borrower))) {
      const shouted = borrower.toUpperCase()
      await land.expectData(`/addresses/${shouted}/mortgages`, land.reference.mortgagesOf(borrower))
      await land.expectData(
        `/mortgages/${shouted}/parcels`,
        land.reference.mortgagedParcels(borrower, land.nowMs()),
      )
      for (const status of MORTGAGE_STATUSES)
        await land.expectData(
          `/addresses/${borrower}/mortgages?status=${status}`,
          land.reference.mortgagesOf(borrower, [status]),
        )
    }
    for (const { asset_id } of mortgages) {
      const [x, y] = asset_id.split(',')
      const all = land.reference.mortgagesOn(asset_id)
      expect(all.length).toBeGreaterThan(0)
      for (const path of [`/parcels/${x}/${y}/mortgages`, `/parcels/${x},${y}/mortgages?status=all`])
        await land.expectData(path, all)
      const both = `?status=pending,ongoing`
      await land.expectData(
        `/parcels/${x}/${y}/mortgages${both}`,
        land.reference.mortgagesOn(asset_id, ['pending', 'ongoing']),
      )
    }
    await land.expectData(`/addresses/${addressOf('nobody')}/mortgages`, [])
    await land.expectData(`/mortgages/${addressOf('nobody')}/parcels`, [])
    for (const wrong of ['open', 'PAID', 'paid,']) {
      const { data } = await land.refusal(`/parcels/0/0/mortgages?status=${wrong}`, 400, 'invalid_parameter')
      expect(data).toEqual({
        parameter: 'status',
        value: wrong,
        allowed: `all, or one or more of ${MORTGAGE_STATUSES.join(', ')}, separated by commas`,
      })
    }
  })

  test('a status that bids do not have is refused', async () => {
    const address = addressOf('bidder')
    for (const path of [
      '/parcels/0/0/bids',
      '/estates/1/bids',
      `/addresses/${address}/bids`,
      `/bids/${address}/assets`,
    ]) {
      for (const wrong of ['pending', 'all,open', 'Open']) {
        const { data } = await land.refusal(`${path}?status=${wrong}`, 400, 'invalid_parameter')
        expect(data).toEqual({
          parameter: 'status',
          value: wrong,
          allowed: 'all, or one or more of open, cancelled, sold, separated by commas',
        })
      }
      await land.refusal(`${path}?status=open&status=sold`, 400, 'invalid_parameter')
    }
  })

  test('contributions are summed by district', async () => {
    const addresses = [...new Set(land.reference.contributors())]
    const split = addresses.filter((one) => land.reference.contributors().filter((a) => a === one).length > 1)
    expect(split.length).toBeGreaterThan(5)
    for (const address of [...addresses.slice(0, 20), ...split.slice(0, 20)]) {
      await land.expectData(`/addresses/${address}/contributions`, land.reference.contributionsOf(address))
      await land.expectData(
        `/addresses/${address.toUpperCase()}/contributions`,
        land.reference.contributionsOf(address),
      )
    }
    await land.expectData(`/addresses/${addressOf('nobody')}/contributions`, [])
  })

  test('the enabled districts, by name, with the fields of the table only', async () => {
    const districts = land.reference.districts()
    expect(districts.length).toBeGreaterThan(5)
    await land.expectData('/districts', districts)
    await land.expectData('/v1/districts?status=open', districts)
  })
})
