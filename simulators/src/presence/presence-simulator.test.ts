import {
  type SimulatedPresence,
  startSimulatedPresence,
} from '@landpass/server/test/support/attendance/simulated-presence'
import { REFERENCE_TIME_MS, testClock } from '@landpass/server/test/support/http/land-server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'

const ANN = '0x00000000000000000000000000000000000000aa'
const BOB = '0x00000000000000000000000000000000000000bb'

const clock = testClock()
let world: SimulatedPresence

beforeAll(async () => {
  world = await startSimulatedPresence(clock)
})

afterAll(() => world.close())

beforeEach(async () => {
  clock.set(REFERENCE_TIME_MS)
  await world.control('POST', '/reset')
})

async function get(path: string) {
  const response = await fetch(world.address + path)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, body: isJson ? JSON.parse(text) : text }
}

const peerAt = (address: string, x: number, y: number, lastPing = REFERENCE_TIME_MS) => ({
  id: address,
  address,
  lastPing,
  parcel: [x, y],
  position: [x * 16 + 8, 0, y * 16 + 8],
})

describe('the statistics service', () => {
  test('lists the requested players, by their exact address in lower case', async () => {
    await world.put(`0x${ANN.slice(2).toUpperCase()}`, { x: 52, y: -10 })
    await world.put(BOB, { x: 0, y: 0, last_ping: 1_000 })
    const [ann, bob] = [peerAt(ANN, 52, -10), peerAt(BOB, 0, 0, 1_000)]

    expect(await get(`/peers?id=${ANN}`)).toEqual({ status: 200, body: { ok: true, peers: [ann] } })
    expect((await get(`/peers?id=${BOB}&id=${ANN}`)).body.peers).toEqual([bob, ann])
    expect((await get(`/peers?id=0x${ANN.slice(2).toUpperCase()}`)).body.peers).toEqual([])
    expect((await get('/peers')).body.peers).toEqual([ann, bob])
    expect(await get('/comms/peers')).toEqual(await get('/peers'))
    expect(await get(`/peers/${BOB}`)).toEqual({ status: 200, body: { ok: true, peer: bob } })
  })

  test('answers with the current time as last heartbeat, unless another time was set', async () => {
    await world.put(ANN, { x: 1, y: 1 })
    await world.put(BOB, { x: 1, y: 1, last_ping: REFERENCE_TIME_MS })
    clock.set(REFERENCE_TIME_MS + 1_000)

    const { peers } = (await get('/peers')).body

    expect(peers.map(({ lastPing }: { lastPing: number }) => lastPing - REFERENCE_TIME_MS)).toEqual([
      1_000, 0,
    ])
  })

  test('lists only players in the main world who have not left', async () => {
    await world.put(ANN, { x: 1, y: 1, realm: 'club.dcl.eth' })
    await world.put(BOB, { x: 1, y: 1 })
    await world.remove(BOB)

    expect((await get('/peers')).body.peers).toEqual([])
    expect(await get(`/peers/${ANN}`)).toEqual({ status: 404, body: { ok: false, peer: null } })
    expect(await get('/status')).toMatchObject({ status: 200, body: { currentTime: REFERENCE_TIME_MS } })
  })
})

describe('the gatekeeper', () => {
  const participants = async (query: string) => {
    const { status, body } = await get(`/scene-participants?${query}`)
    return status === 200 ? body.data.addresses : status
  }

  test('lists the players in a scene, which is a single parcel by default', async () => {
    await world.crowd([ANN], 1, 1)
    await world.crowd([BOB], 1, 2)

    expect(await participants('pointer=1,1&realm_name=main')).toEqual([ANN])
    expect(await participants('pointer=9,9&realm_name=main')).toEqual([])
    await world.control('PUT', '/scenes', { scenes: [['1,1', '1,2']], elsewhere: 'nothing' })
    expect(await participants('pointer=1,1&realm_name=main')).toEqual([ANN, BOB])
    expect(await participants('pointer=9,9&realm_name=main')).toBe(404)
  })

  test('lists all players of a realm, or those of a scene in it', async () => {
    await world.put(ANN, { x: 1, y: 1, realm: 'club.dcl.eth' })

    expect(await participants('realm_name=club.dcl.eth')).toEqual([ANN])
    expect(await participants('realm_name=club.dcl.eth&pointer=1,1')).toEqual([ANN])
    expect(await participants('realm_name=club.dcl.eth&pointer=0,0')).toEqual([])
    expect(await participants('realm_name=main&pointer=1,1')).toEqual([])
  })

  test('refuses incomplete queries', async () => {
    for (const query of ['', 'pointer=1,1', 'realm_name=main', 'realm_name=main&pointer=here']) {
      expect(await participants(query), query).toBe(400)
    }
  })

  test('lists a player only at the last position', async () => {
    await world.put(ANN, { x: 1, y: 1 })
    await world.put(ANN, { x: 2, y: 2 })

    expect(await participants('pointer=1,1&realm_name=main')).toEqual([])
    expect(await participants('pointer=2,2&realm_name=main')).toEqual([ANN])
  })
})

describe('its controls', () => {
  test('place 20,000 players with one call', async () => {
    const crowd = Array.from({ length: 20_000 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
    await world.crowd(crowd, 3, 4)

    expect((await get('/scene-participants?pointer=3,4&realm_name=main')).body.data.addresses).toEqual(crowd)
    expect((await get(`/peers?id=${crowd[19_999]}`)).body.peers).toEqual([peerAt(crowd[19_999]!, 3, 4)])
    const tooMany = await world.control('PUT', '/crowd', { addresses: [...crowd, ANN], x: 3, y: 4 })
    expect(tooMany.status).toBe(400)
  })

  test('make it fail, with JSON or HTML, and work again', async () => {
    await world.put(ANN, { x: 1, y: 1 })
    await world.change({ down: true })
    expect(await get(`/peers?id=${ANN}`)).toMatchObject({ status: 503, body: { ok: false } })

    await world.change({ html_errors: true })
    expect(await get('/status')).toEqual({ status: 503, body: expect.stringContaining('<html>') })
    await world.change({ down: false })
    expect(await get('/scene-participants')).toEqual({ status: 400, body: expect.stringContaining('<html>') })

    const settings = await world.control('GET', '/settings')
    expect(await settings.json()).toEqual({ down: false, delay_ms: 0, html_errors: true })
    expect((await get(`/peers?id=${ANN}`)).body.peers).toHaveLength(1)
  })

  test('count the calls, and reset everything', async () => {
    await world.put(ANN, { x: 1, y: 1 })
    await get('/peers')
    await get(`/peers/${ANN}`)
    await get('/scene-participants')

    expect((await world.calls()).calls).toEqual({
      '/peers': 1,
      '/peers/:address': 1,
      '/scene-participants': 1,
    })
    await world.control('POST', '/reset')
    expect((await world.calls()).calls).toEqual({})
    expect((await get('/peers')).body.peers).toEqual([])
  })

  test.each([
    ['PUT', '/players/0xaa', { x: 1, y: 1 }],
    ['PUT', `/players/${ANN}`, { x: 1 }],
    ['PUT', `/players/${ANN}`, { x: 1, y: 1.5 }],
    ['PUT', `/players/${ANN}`, { x: 1, y: 1, last_ping: 'now' }],
    ['PUT', '/crowd', { addresses: ANN, x: 1, y: 1 }],
    ['PUT', '/crowd', { addresses: ['ann'], x: 1, y: 1 }],
    ['PUT', '/scenes', { scenes: [['here']] }],
    ['PATCH', '/settings', { down: 'yes' }],
    ['PATCH', '/settings', { delay_ms: -1 }],
    ['PATCH', '/settings', []],
  ])('refuse invalid bodies: %s %s %j', async (method, path, body) => {
    const { status } = await world.control(method, path, body)

    expect(status).toBe(400)
  })

  test('closing does not wait for delayed answers', async () => {
    const slow = await startSimulatedPresence(clock)
    await slow.change({ delay_ms: 60_000 })
    const waiting = fetch(`${slow.address}/status`).catch(() => 'cut off')
    while ((await slow.calls()).calls['/status'] !== 1) await new Promise(setImmediate)

    await slow.close()

    await waiting
  })
})
