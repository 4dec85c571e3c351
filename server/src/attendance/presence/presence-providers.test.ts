import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type SimulatedPresence,
  startSimulatedPresence,
} from '../../../test/support/attendance/simulated-presence.ts'
import { REFERENCE_TIME_MS, testClock } from '../../../test/support/http/land-server.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../clock.ts'
import type { PresenceConfig, PresenceProviderConfig } from '../../config/config.ts'
import { MAX_FAILURES, PAUSE_MS } from './circuit-breaker.ts'
import { MAX_POINTERS } from './participants-provider.ts'
import { type PresenceFacts, PresenceProviders } from './presence-providers.ts'

const ANN = '0x00000000000000000000000000000000000000aa'
const BOB = '0x00000000000000000000000000000000000000bb'
const STAGE = { x: 52, y: -10 }
const ELSEWHERE = { x: 0, y: 0 }

const clock = testClock()
let world: SimulatedPresence
let peers: PresenceProviderConfig
let participants: PresenceProviderConfig

beforeAll(async () => {
  world = await startSimulatedPresence(clock)
  ;[peers, participants] = world.config().providers as [PresenceProviderConfig, PresenceProviderConfig]
})

afterAll(() => world.close())

beforeEach(async () => {
  clock.set(REFERENCE_TIME_MS)
  await world.control('POST', '/reset')
})

function presenceOf(changes: Partial<PresenceConfig>) {
  const facts: PresenceFacts[] = []
  const presence = new PresenceProviders({
    config: world.config(changes),
    clock,
    onAnswer: (one) => facts.push(one),
  })
  return { presence, facts }
}

async function callsTo(path: string): Promise<number> {
  return (await world.calls()).calls[path] ?? 0
}

const pass = (ms: number) => clock.set(clock.nowMs() + ms)

describe('a provider that lists connected players', () => {
  const asked = () => callsTo('/peers')
  const onlyPeers = (changes: Partial<PresenceConfig> = {}) => presenceOf({ providers: [peers], ...changes })

  test('finds a player on one of the places, in any letter case of the address', async () => {
    const { presence } = onlyPeers()
    await world.put(ANN, STAGE)

    expect(await presence.find(`0x${ANN.slice(2).toUpperCase()}`, [ELSEWHERE, STAGE])).toBe('present')
    expect(await presence.find(ANN, [{ x: 53, y: -10 }])).toBe('absent')
    expect(await presence.find(BOB, [STAGE])).toBe('absent')
  })

  test('with a tolerance counts the parcels around a place', async () => {
    await world.put(ANN, { x: 54, y: -12 })

    expect(await onlyPeers({ toleranceParcels: 2 }).presence.find(ANN, [STAGE])).toBe('present')
    expect(await onlyPeers({ toleranceParcels: 1 }).presence.find(ANN, [STAGE])).toBe('absent')
  })

  test('does not count a heartbeat that is too old', async () => {
    const { presence } = onlyPeers()
    await world.put(ANN, { ...STAGE, last_ping: clock.nowMs() - MINUTE_MS })
    await world.put(BOB, { ...STAGE, last_ping: clock.nowMs() - MINUTE_MS - 1 })

    expect(await presence.find(ANN, [STAGE])).toBe('present')
    expect(await presence.find(BOB, [STAGE])).toBe('absent')
  })

  test('its answer about a player is cached', async () => {
    const { presence, facts } = onlyPeers()
    await world.put(ANN, STAGE)
    await presence.find(ANN, [STAGE])
    await world.put(ANN, ELSEWHERE)

    pass(5 * SECOND_MS - 1)
    expect(await presence.find(ANN, [STAGE])).toBe('present')
    expect(await asked()).toBe(1)
    pass(1)
    expect(await presence.find(ANN, [STAGE])).toBe('absent')

    expect(await asked()).toBe(2)
    const provider = `peers ${new URL(world.address).host}`
    expect(facts).toEqual([
      { provider, result: 'present', isCached: false },
      { provider, result: 'present', isCached: true },
      { provider, result: 'absent', isCached: false },
    ])
  })

  test('a cached heartbeat becomes too old as well', async () => {
    const { presence } = onlyPeers({ cacheMs: MINUTE_MS })
    await world.put(ANN, { ...STAGE, last_ping: clock.nowMs() - MINUTE_MS + 10 })
    expect(await presence.find(ANN, [STAGE])).toBe('present')

    pass(11)

    expect(await presence.find(ANN, [STAGE])).toBe('absent')
    expect(await asked(), 'the provider might have a newer one').toBe(2)
  })

  test('an absent player is requested again after two seconds; another event uses the cached position at once', async () => {
    const { presence } = onlyPeers()
    await world.put(ANN, ELSEWHERE)
    expect(await presence.find(ANN, [STAGE])).toBe('absent')
    await world.put(ANN, STAGE)

    pass(2 * SECOND_MS - 1)
    expect(await presence.find(ANN, [STAGE])).toBe('absent')
    expect(await presence.find(ANN, [ELSEWHERE]), 'where the last heartbeat was').toBe('present')
    expect(await asked()).toBe(1)
    pass(1)
    expect(await presence.find(ANN, [STAGE])).toBe('present')
  })

  test('equal requests at the same time are one call, others do not wait for it', async () => {
    const { presence } = onlyPeers()
    await world.crowd([ANN, BOB], STAGE.x, STAGE.y)
    await world.change({ delay_ms: 20 })

    const answers = await Promise.all([ANN, ANN, BOB, ANN].map((player) => presence.find(player, [STAGE])))

    expect(answers).toEqual(['present', 'present', 'present', 'present'])
    expect(await asked()).toBe(2)
  })

  test('gets no more than 32 calls at once', async () => {
    const { presence } = onlyPeers({ timeoutMs: 60_000 })
    const crowd = Array.from({ length: 150 }, (_, i) => `0x${i.toString(16).padStart(40, '0')}`)
    await world.crowd(crowd, STAGE.x, STAGE.y)
    // The first 32 calls wait until all of them are under way
    await world.change({ delay_ms: 4_000 })

    const answering = Promise.all(crowd.map((player) => presence.find(player, [STAGE])))
    await expect.poll(async () => (await world.calls()).most_at_once).toBe(32)
    await world.change({ delay_ms: 0 })

    expect(new Set(await answering)).toEqual(new Set(['present']))
    expect((await world.calls()).most_at_once).toBe(32)
  })
})

describe('a provider that lists the players in the room of a scene', () => {
  const asked = () => callsTo('/scene-participants')
  const onlyRooms = (changes: Partial<PresenceConfig> = {}) =>
    presenceOf({ providers: [participants], ...changes })

  test('finds a player anywhere in the scene, however many parcels it has', async () => {
    const { presence } = onlyRooms()
    await world.control('PUT', '/scenes', { scenes: [['52,-10', '52,-9', '52,-8']], elsewhere: 'nothing' })
    await world.put(ANN, { x: 52, y: -8 })

    expect(await presence.find(ANN, [STAGE])).toBe('present')
    expect(await presence.find(BOB, [STAGE])).toBe('absent')
    expect(await presence.find(ANN, [ELSEWHERE]), 'there is no scene').toBe('absent')
  })

  test('is asked for the configured realm only', async () => {
    await world.put(ANN, { ...STAGE, realm: 'club.dcl.eth' })

    expect(await onlyRooms().presence.find(ANN, [STAGE])).toBe('absent')
    expect(await onlyRooms({ realm: 'club.dcl.eth' }).presence.find(ANN, [STAGE])).toBe('present')
  })

  test('one list is used for all players', async () => {
    const { presence, facts } = onlyRooms()
    await world.crowd([ANN, BOB], STAGE.x, STAGE.y)

    const answers = await Promise.all([ANN, BOB].map((player) => presence.find(player, [STAGE])))
    pass(4 * SECOND_MS)

    expect([...answers, await presence.find(BOB, [STAGE])]).toEqual(['present', 'present', 'present'])
    expect(await asked()).toBe(1)
    expect(facts.map(({ isCached }) => isCached)).toEqual([false, false, true])
  })

  test('a list is not used for a player who came later', async () => {
    const { presence } = onlyRooms()
    await world.put(ANN, STAGE)
    expect(await presence.find(ANN, [STAGE])).toBe('present')
    await world.put(BOB, STAGE)

    expect(await presence.find(BOB, [STAGE])).toBe('absent')
    pass(2 * SECOND_MS)
    expect(await presence.find(BOB, [STAGE])).toBe('present')

    expect(await asked()).toBe(2)
  })

  test('requests no further place once the player is found', async () => {
    const server = await startStrange((response, url) => {
      if (url.includes('pointer=2,1&')) response.end(`{"ok":true,"data":{"addresses":["${ANN}"]}}`)
    })
    const { presence } = presenceOf({ providers: [{ style: 'participants', url: server.address }] })
    const places = Array.from({ length: MAX_POINTERS }, (_, x) => ({ x, y: 1 }))

    expect(await presence.find(ANN, places)).toBe('present')

    expect(server.asked.length, 'a few are requested together').toBeLessThanOrEqual(4)
    await server.close()
  })

  test('many slow lists are cut off by the timeout', async () => {
    // A simulator of its own: calls that come after the answer would be counted in other tests
    const slow = await startSimulatedPresence(clock)
    const { presence } = presenceOf({ providers: slow.config().providers.slice(1), timeoutMs: 100 })
    const places = Array.from({ length: MAX_POINTERS }, (_, x) => ({ x, y: 1 }))
    await slow.change({ delay_ms: 80 }) // five rounds of four, and time for two and a half

    expect(await presence.find(ANN, places)).toBe('unknown')
    await slow.close()
  })

  test('is asked for twenty places at most: a player on another one is unknown, not absent', async () => {
    const { presence, facts } = onlyRooms()
    const places = Array.from({ length: MAX_POINTERS + 1 }, (_, x) => ({ x, y: 1 }))
    await world.put(ANN, { x: MAX_POINTERS, y: 1 })

    expect(await presence.find(ANN, places.slice(0, MAX_POINTERS))).toBe('absent')
    expect(await asked()).toBe(MAX_POINTERS)
    expect(await presence.find(ANN, places)).toBe('unknown')
    expect(await asked()).toBe(MAX_POINTERS)

    await presence.find(ANN, places.slice(MAX_POINTERS)) // another event has only that place: its list is cached now
    expect(await presence.find(ANN, places)).toBe('present')
    expect(facts.at(-1)).toMatchObject({ result: 'present', isCached: true })
  })
})

describe('several providers', () => {
  test('are combined by the policy', async () => {
    await world.put(ANN, STAGE)
    // In the room of the scene, while the heartbeat lags behind
    await world.put(BOB, { ...STAGE, last_ping: clock.nowMs() - 5 * MINUTE_MS })

    const any = presenceOf({ policy: 'any' }).presence
    const all = presenceOf({ policy: 'all' }).presence

    expect([await any.find(ANN, [STAGE]), await all.find(ANN, [STAGE])]).toEqual(['present', 'present'])
    expect([await any.find(BOB, [STAGE]), await all.find(BOB, [STAGE])]).toEqual(['present', 'absent'])
    expect([await any.find(ANN, [ELSEWHERE]), await all.find(ANN, [ELSEWHERE])]).toEqual(['absent', 'absent'])
  })

  test('a provider that is down counts neither as present nor as absent', async () => {
    const providers = [peers, { style: 'participants', url: await deadAddress() }] as const
    await world.put(ANN, STAGE)

    const any = presenceOf({ policy: 'any', providers }).presence
    const all = presenceOf({ policy: 'all', providers }).presence

    expect([await any.find(ANN, [STAGE]), await all.find(ANN, [STAGE])]).toEqual(['present', 'unknown'])
    expect([await any.find(BOB, [STAGE]), await all.find(BOB, [STAGE])]).toEqual(['unknown', 'absent'])
  })

  test('a slow provider is not awaited when another result is decisive', async () => {
    const slow = await startSimulatedPresence(clock)
    await slow.change({ delay_ms: 60_000 })
    await world.put(ANN, STAGE)
    const providers = [peers, { style: 'participants', url: `${slow.address}/scene-participants` }] as const
    const { presence, facts } = presenceOf({ providers })

    expect(await presence.find(ANN, [STAGE])).toBe('present')

    expect(facts.map(({ provider }) => provider)).toEqual([`peers ${new URL(world.address).host}`])
    await slow.close()
  })
})

describe('a provider without a proper answer', () => {
  const strange: Strange[] = []
  afterEach(() => Promise.all(strange.splice(0).map(({ close }) => close())))

  async function bothStyles(answer: Answer, changes: Partial<PresenceConfig> = {}) {
    const server = await startStrange(answer)
    strange.push(server)
    const styles = ['peers', 'participants'] as const
    return styles.map((style) => {
      const providers = [{ style, url: `${server.address}/below/${style}` }]
      return { server, ...presenceOf({ providers, ...changes }) }
    })
  }

  test.each<[string, Answer]>([
    [
      'a page for people',
      (response) => response.setHeader('content-type', 'text/html').end('<h1>Hello</h1>'),
    ],
    ['an error page', (response) => response.writeHead(502).end('<h1>Bad gateway</h1>')],
    [
      'an error in JSON',
      (response) => response.writeHead(500).end('{"ok":true,"peers":[],"data":{"addresses":[]}}'),
    ],
    [
      'a refusal',
      (response) => response.writeHead(403).end('{"ok":true,"peers":[],"data":{"addresses":[]}}'),
    ],
    ['another shape', (response) => response.end('{"ok":true,"peers":{},"data":[]}')],
    ['half an answer', cutOff],
    ['nothing at all', (response) => response.destroy()],
    ['a way elsewhere', (response) => response.writeHead(302, { location: world.address }).end()],
    ['far too much', (response) => response.end(`{"ok":true,"x":"${'x'.repeat(5 * 1024 * 1024)}"}`)],
  ])('is unknown, not absent: %s', async (_what, answer) => {
    for (const { presence } of await bothStyles(answer)) {
      expect(await presence.find(ANN, [STAGE])).toBe('unknown')
    }
  })

  test('is cut off when it does not answer', async () => {
    for (const { presence } of await bothStyles(() => {}, { timeoutMs: 100 })) {
      expect(await presence.find(ANN, [STAGE])).toBe('unknown')
    }
  })

  test('is asked like a real service, below the configured address', async () => {
    for (const { presence } of await bothStyles((response) => response.writeHead(404).end(), {
      realm: 'a&b=c',
    })) {
      await presence.find(ANN.toUpperCase().replace('0X', '0x'), [STAGE])
    }

    expect(strange[0]!.asked).toEqual([
      `/below/peers?id=${ANN}`,
      '/below/participants?pointer=52,-10&realm_name=a%26b%3Dc',
    ])
  })

  test('is asked again after a second, and not for a while after several failures', async () => {
    for (const { presence, server } of await bothStyles((response) => response.writeHead(500).end())) {
      server.asked.length = 0
      await presence.find(ANN, [STAGE])
      pass(SECOND_MS - 1)
      await presence.find(ANN, [STAGE])
      expect(server.asked.length).toBe(1)

      for (let i = 0; i < MAX_FAILURES; i++) {
        pass(1 + i * SECOND_MS)
        await presence.find(ANN, [STAGE])
      }
      expect(server.asked.length).toBe(MAX_FAILURES)

      pass(PAUSE_MS)
      expect(await presence.find(ANN, [STAGE])).toBe('unknown')
      expect(server.asked.length).toBe(MAX_FAILURES + 1)
    }
  })

  test('is used again as soon as it answers again', async () => {
    const { presence } = presenceOf({ providers: [peers] })
    await world.put(ANN, STAGE)
    await world.change({ down: true, html_errors: true })
    expect(await presence.find(ANN, [STAGE])).toBe('unknown')

    await world.change({ down: false })
    expect(await presence.find(ANN, [STAGE])).toBe('unknown')
    pass(SECOND_MS)

    expect(await presence.find(ANN, [STAGE])).toBe('present')
  })
})

type Answer = (response: http.ServerResponse, url: string) => unknown

interface Strange {
  readonly address: string
  readonly asked: string[]
  close(): Promise<void>
}

/** Announces a longer body, then closes the connection. */
function cutOff(response: http.ServerResponse): void {
  response.writeHead(200, { 'content-length': 100 }).write('{"ok":')
  response.socket?.end()
}

/** A server that answers everything in the same way. */
async function startStrange(answer: Answer): Promise<Strange> {
  const asked: string[] = []
  const server = http.createServer((request, response) => {
    asked.push(request.url!)
    answer(response, request.url!)
  })
  const address = await listen(server)
  return {
    address,
    asked,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An address where nothing listens any more. */
async function deadAddress(): Promise<string> {
  const server = http.createServer()
  const address = await listen(server)
  await new Promise((resolve) => server.close(resolve))
  return address
}

async function listen(server: http.Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('after the clock was set back by an hour, players are found as before', async () => {
  await world.put(ANN, STAGE)
  const setBack = { nowMs: () => clock.nowMs() - HOUR_MS, steadyMs: () => clock.nowMs() }
  const presence = new PresenceProviders({ config: world.config({ providers: [peers] }), clock: setBack })

  expect(await presence.find(ANN, [STAGE])).toBe('present')
})
