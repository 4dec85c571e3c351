import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseCoord } from '@landpass/client/grid'
import { type Clock, SYSTEM_CLOCK } from '@landpass/server/clock'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import {
  changeSettings,
  DEFAULT_SETTINGS,
  parseAddress,
  parseCrowd,
  parsePlayer,
  parseScenes,
  type SimulatorSettings,
} from './control-bodies.ts'
import { MAIN_REALM, SimulatedWorld } from './simulated-world.ts'

export interface PresenceSimulatorOptions {
  readonly host: string
  /** 0 uses any free port. */
  readonly port: number
  /** The source of the time of heartbeats that are always current. */
  readonly clock?: Clock
}

export interface PresenceSimulator {
  /** `http://127.0.0.1:4567` */
  readonly address: string
  close(): Promise<void>
}

/** Enough for {@link parseCrowd} with the most players. */
const BODY_LIMIT_BYTES = 8 * 1024 * 1024

/** The data of the simulator; `POST /simulator/reset` resets it. */
interface SimulatorState {
  readonly world: SimulatedWorld
  settings: SimulatorSettings
  /** The number of requests per simulated call. */
  calls: Record<string, number>
  running: number
  mostAtOnce: number
}

/**
 * Starts a server that simulates two presence providers, for development and tests: the statistics service
 * (`/peers?id=`, `/peers/{address}`, `/comms/peers`, `/status`) and the gatekeeper
 * (`/scene-participants?pointer=x,y&realm_name=main`). There are no players until a control call places them:
 *
 * - `PUT /simulator/players/{address}` `{ x, y, last_ping?, realm? }`, `DELETE` of the same. Without `last_ping` (in
 *   milliseconds) the last heartbeat is always the current time.
 * - `PUT /simulator/crowd` `{ addresses, x, y }` places up to 20,000 players on one parcel.
 * - `PUT /simulator/scenes` `{ scenes: [['0,0', '0,1']], elsewhere?: 'parcels' | 'nothing' }`. By default each
 *   parcel is a scene.
 * - `GET`, `PATCH /simulator/settings` `{ down, delay_ms, html_errors }`, `GET /simulator/calls`, `POST /simulator/reset`.
 *
 * @example
 * const simulator = await startPresenceSimulator({ host: '127.0.0.1', port: 0 })
 * await fetch(`${simulator.address}/simulator/players/0x00000000000000000000000000000000000000aa`, {
 *   method: 'PUT',
 *   headers: { 'content-type': 'application/json' },
 *   body: '{"x":52,"y":-10}',
 * })
 */
export async function startPresenceSimulator(options: PresenceSimulatorOptions): Promise<PresenceSimulator> {
  const { host, port, clock = SYSTEM_CLOCK } = options
  const app = Fastify({ bodyLimit: BODY_LIMIT_BYTES, forceCloseConnections: true })
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one listener for each delayed answer
  const state: SimulatorState = {
    world: new SimulatedWorld(clock),
    settings: DEFAULT_SETTINGS,
    calls: {},
    running: 0,
    mostAtOnce: 0,
  }
  await app.register(async (part) => publicRoutes(part, state, clock, closing.signal))
  await app.register(async (part) => controlRoutes(part, state), { prefix: '/simulator' })
  const address = await app.listen({ host, port })
  return {
    address,
    close: async () => {
      closing.abort()
      await app.close()
    },
  }
}

function publicRoutes(app: FastifyInstance, state: SimulatorState, clock: Clock, closing: AbortSignal): void {
  app.addHook('onRequest', async (request, reply) => {
    const { url = '' } = request.routeOptions
    state.calls[url] = (state.calls[url] ?? 0) + 1
    state.running += 1
    state.mostAtOnce = Math.max(state.mostAtOnce, state.running)
    const { delay_ms: delayMs, down } = state.settings
    if (delayMs > 0) await sleep(delayMs, undefined, { signal: closing, ref: false }).catch(() => undefined)
    if (down) return fail(reply, state, 503, { ok: false, message: 'the service is down' })
  })
  app.addHook('onResponse', (_request, _reply, done) => {
    state.running -= 1
    done()
  })
  statisticsRoutes(app, state, clock)
  gatekeeperRoutes(app, state)
}

function statisticsRoutes(app: FastifyInstance, state: SimulatorState, clock: Clock): void {
  const { world } = state
  for (const path of ['/peers', '/comms/peers']) {
    app.get<{ Querystring: { id?: string | string[] } }>(path, async ({ query }) => {
      if (query.id === undefined) return { ok: true, peers: world.peers() }
      // Like the service: an address in upper case finds no player
      return { ok: true, peers: [query.id].flat().flatMap((id) => world.findPeer(id) ?? []) }
    })
  }
  app.get<{ Params: { address: string } }>('/peers/:address', async ({ params }, reply) => {
    const peer = world.findPeer(params.address)
    return peer ? { ok: true, peer } : fail(reply, state, 404, { ok: false, peer: null })
  })
  app.get('/status', async () => ({ version: 'simulator', currentTime: clock.nowMs(), commitHash: '' }))
}

interface ParticipantsQuery {
  readonly pointer?: string | string[]
  readonly realm_name?: string | string[]
}

function gatekeeperRoutes(app: FastifyInstance, state: SimulatorState): void {
  const { world } = state
  app.get<{ Querystring: ParticipantsQuery }>('/scene-participants', async ({ query }, reply) => {
    const [realm, pointer] = [query.realm_name, query.pointer].map((one) => [one].flat()[0])
    const at = pointer === undefined ? undefined : parseCoord(pointer)
    // Without a pointer, all participants are listed only for realms other than the main world
    const isAsked = realm !== undefined && (pointer === undefined ? realm !== MAIN_REALM : at !== undefined)
    if (!isAsked) return fail(reply, state, 400, { error: 'pointer and realm_name are needed' })
    const addresses = at ? world.findParticipants(realm, at) : world.participantsOfRealm(realm)
    if (!addresses) return fail(reply, state, 404, { error: 'there is no scene at the pointer' })
    return { ok: true, data: { addresses } }
  })
}

function controlRoutes(app: FastifyInstance, state: SimulatorState): void {
  const { world } = state
  app.put<{ Params: { address: string } }>('/players/:address', async ({ params, body }) => {
    world.put(parsePlayer(params.address, body))
    return { ok: true }
  })
  app.delete<{ Params: { address: string } }>('/players/:address', async ({ params }) => ({
    ok: world.remove(parseAddress(params.address)),
  }))
  app.put('/crowd', async ({ body }) => {
    for (const player of parseCrowd(body)) world.put(player)
    return { ok: true }
  })
  app.put('/scenes', async ({ body }) => {
    world.setScenes(parseScenes(body))
    return { ok: true }
  })
  app.get('/settings', async () => state.settings)
  app.patch('/settings', async ({ body }) => {
    state.settings = changeSettings(state.settings, body)
    return state.settings
  })
  app.get('/calls', async () => ({ calls: state.calls, most_at_once: state.mostAtOnce }))
  app.post('/reset', async () => {
    world.clear()
    // `running` is not reset: requests that still run decrease it when they end
    Object.assign(state, { settings: DEFAULT_SETTINGS, calls: {}, mostAtOnce: 0 })
    return { ok: true }
  })
}

function fail(reply: FastifyReply, { settings }: SimulatorState, status: number, body: object): FastifyReply {
  if (!settings.html_errors) return reply.code(status).send(body)
  const page = `<!DOCTYPE html><html><head><title>${status}</title></head><body><h1>${status}</h1></body></html>`
  return reply.code(status).type('text/html').send(page)
}
