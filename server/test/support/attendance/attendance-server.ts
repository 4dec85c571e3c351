import { makePlayer, type RequestToSign, type SimulatedPlayer } from '@landpass/simulators/player/player'
import { expect } from 'vitest'
import type { Clock } from '../../../src/clock.ts'
import type { Environment, FixedLimits } from '../../../src/config/config.ts'
import type { Engine } from '../../../src/db/engine.ts'
import { findSecrets, type Output } from '../http/find-secrets.ts'
import { type Answer, type LandServer, startLandServer } from '../http/land-server.ts'
import { forkProgram, nextMessage } from '../processes/children.ts'
import { eventually, outputOfCommands } from '../processes/landpass.ts'
import { atEndOfEachFile } from '../run/end-of-file.ts'

/** For the codes of a test's server: any would do. */
export const TEST_KEY = '5eed'.repeat(16)
const CREDENTIALS = {
  ISSUER_API_KEY: 'simulated-key',
  ISSUER_CLIENT_ID: 'simulated-client',
  ISSUER_CLIENT_SECRET: 'simulated-secret',
}
/** An issuer in this mood answers whatever it is asked. */
const CALM = {
  delay_ms: 0,
  error_rate: 0,
  error_after_rate: 0,
  late_rate: 0,
  drop_rate: 0,
  rate_limit_per_minute: 0,
}
/** What the simulated issuer's access tokens begin with. */
const TOKEN_START = 'simulated.'

const answers: Output[] = []
const worlds: OutsideWorld[] = []
/** Simulators of earlier test files, as after a start: a process is started only when all others are in use. */
const idleSimulators: Simulators[] = []

/** No server of the tests says a secret, whatever the tests of the file are about. */
atEndOfEachFile(async () => {
  const outputs = [...answers, ...outputOfCommands()]
  const used = [...worlds]
  answers.length = 0
  worlds.length = 0
  const found: string[] = []
  for (const world of used) {
    found.push(...findSecrets(outputs, await world.secrets()))
    await control('POST', `${world.issuer}/simulator/reset`, {})
    await control('POST', `${world.issuer}/simulator/revoke-tokens`, {})
    await control('POST', `${world.presence}/simulator/reset`, {})
    idleSimulators.push(world)
  }
  expect(found).toEqual([])
})

export interface LedgerEntry {
  readonly event_id: number
  readonly code: string
  readonly address: string
}

/** Addresses of the two simulators. */
interface Simulators {
  readonly issuer: string
  readonly presence: string
}

/** The two simulators, outside of the process of the server. */
export interface OutsideWorld extends Simulators {
  /** The settings with which a server finds them. */
  readonly env: Environment
  /** Makes an event at the issuer. */
  putEvent(id: number, plan: EventPlan): Promise<void>
  /** Codes of an event that were used without this server. */
  useElsewhere(id: number, count: number): Promise<void>
  /** How the issuer behaves. */
  issuerSettings(settings: object): Promise<void>
  presenceSettings(settings: object): Promise<void>
  /** Puts a player somewhere, with a heartbeat of this very time. */
  stand(address: string, x: number, y: number, atMs: number): Promise<void>
  /** Gives a player a token of an event without us, with a code of its own. */
  giveToken(id: number, editCode: string, address: string): Promise<void>
  /** All claim codes of an event. */
  codesOf(id: number, editCode: string): Promise<readonly string[]>
  /** The secrets that no output may contain, and what each is. */
  secrets(): Promise<ReadonlyMap<string, string>>
  /** The tokens that the issuer made for an event. */
  mintsOf(eventId: number): Promise<readonly LedgerEntry[]>
}

export async function startOutsideWorld(): Promise<OutsideWorld> {
  const { issuer, presence } = idleSimulators.pop() ?? (await startSimulators())
  const editCodes = new Map<number, string>()
  const world: OutsideWorld = {
    issuer,
    presence,
    env: {
      ISSUER_URL: issuer,
      ISSUER_TOKEN_URL: `${issuer}/oauth/token`,
      ...CREDENTIALS,
      ISSUER_CALLS_PER_SECOND: '1000',
      PRESENCE_PROVIDERS: `peers=${presence}/peers`,
      ATTENDANCE_KEY: TEST_KEY,
      CLAIM_WAIT_MS: '20000',
      LIMIT_CLIENT_PER_MINUTE: '0',
      LIMIT_CAPTCHA_IMAGE_PER_MINUTE: '0',
      LIMIT_EVENTS_PER_DAY: '0',
      LIMIT_WAITING_EVENTS_PER_DAY: '0',
      LIMIT_PLAYER_PER_MINUTE: '0',
      LIMIT_ORGANISER_PER_MINUTE: '0',
      LIMIT_GRANTS_PER_MINUTE: '0',
    },
    putEvent: async (id, plan) => {
      editCodes.set(id, plan.edit_code)
      await control('PUT', `${issuer}/simulator/events/${id}`, plan)
    },
    useElsewhere: (id, count) => control('POST', `${issuer}/simulator/events/${id}/use`, { count }),
    issuerSettings: (settings) => control('PATCH', `${issuer}/simulator/settings`, settings),
    presenceSettings: (settings) => control('PATCH', `${presence}/simulator/settings`, settings),
    stand: (address, x, y, atMs) =>
      control('PUT', `${presence}/simulator/players/${address.toLowerCase()}`, { x, y, last_ping: atMs }),
    giveToken: async (id, editCode, address) => {
      await control('POST', `${issuer}/simulator/events/${id}/codes`, { count: 1 })
      const qr_hash = (await codesAtIssuer(issuer, id, editCode)).at(-1)
      await askIssuer(issuer, '/actions/claim-qr', { address, qr_hash, sendEmail: false })
    },
    codesOf: (id, editCode) => codesAtIssuer(issuer, id, editCode),
    secrets: async () => {
      await control('PATCH', `${issuer}/simulator/settings`, CALM)
      const secrets = new Map<string, string>([
        [TEST_KEY, 'the ATTENDANCE_KEY'],
        [TOKEN_START, 'an access token'],
      ])
      for (const [name, value] of Object.entries(CREDENTIALS)) secrets.set(value, `the ${name}`)
      for (const [id, editCode] of editCodes) {
        secrets.set(editCode, `the edit code of ${id}`)
        // A test may have made the simulator forget all that it knew.
        if (!(await isEvent(issuer, id))) continue
        for (const code of await codesAtIssuer(issuer, id, editCode))
          secrets.set(code, `a claim code of ${id}`)
      }
      return secrets
    },
    mintsOf: async (eventId) => {
      const ledger = (await (await fetch(`${issuer}/simulator/ledger`)).json()) as { mints: LedgerEntry[] }
      return ledger.mints.filter(({ event_id }) => event_id === eventId)
    },
  }
  worlds.push(world)
  return world
}

/** As `PUT /simulator/events/:id` takes it. */
export interface EventPlan {
  readonly edit_code: string
  readonly codes: number
  readonly [field: string]: unknown
}

/** A protected call of the issuer, as an operator's server makes it. */
async function askIssuer(issuer: string, path: string, body: object): Promise<unknown> {
  const post = async (to: string, json: object, headers = {}): Promise<unknown> => {
    const response = await fetch(issuer + to, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(json),
    })
    expect(response.status, to).toBe(200)
    return response.json()
  }
  const { access_token } = (await post('/oauth/token', {
    grant_type: 'client_credentials',
    audience: 'tests',
    client_id: CREDENTIALS.ISSUER_CLIENT_ID,
    client_secret: CREDENTIALS.ISSUER_CLIENT_SECRET,
  })) as { access_token: string }
  const headers = { 'x-api-key': CREDENTIALS.ISSUER_API_KEY, authorization: `Bearer ${access_token}` }
  return post(path, body, headers)
}

async function isEvent(issuer: string, id: number): Promise<boolean> {
  const headers = { 'x-api-key': CREDENTIALS.ISSUER_API_KEY }
  return (await fetch(`${issuer}/events/id/${id}`, { headers })).status === 200
}

async function codesAtIssuer(issuer: string, id: number, editCode: string): Promise<readonly string[]> {
  const listed = await askIssuer(issuer, `/event/${id}/qr-codes`, { secret_code: editCode })
  return (listed as { qr_hash: string }[]).map(({ qr_hash }) => qr_hash)
}

async function startSimulators(): Promise<Simulators> {
  const child = forkProgram('simulators-child')
  const addresses = (await nextMessage(child)) as Simulators
  child.unref()
  child.channel?.unref()
  return addresses
}

async function control(method: string, url: string, body: object): Promise<void> {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status, `${method} ${url}: ${await response.text()}`).toBeLessThan(300)
}

/** A server of both interfaces between the simulators. */
export interface AttendanceServer extends LandServer {
  /** Registers an event at its place and loads its codes. @returns the UUID */
  register(eventId: number, editCode: string, coordinates: string): Promise<string>
  /** A claim as a new booth makes it: signed, with a body. */
  claim(event: string, player: SimulatedPlayer, options?: ClaimOptions): Promise<Answer>
}

export interface ClaimOptions {
  readonly body?: object
  readonly sign?: Partial<RequestToSign>
}

/** Players move, and links, lists and pictures are read, as fast as a test runs. */
const NO_LIMITS = {
  presenceCacheMs: 0,
  tokenListsPerMinute: 0,
  sharePicturesPerMinute: 0,
  eventGrantsPerMinute: 0,
}

export async function startAttendance(
  engine: Engine,
  clock: Clock,
  outside: OutsideWorld,
  env: Environment = {},
  limits: Partial<FixedLimits> = {},
): Promise<AttendanceServer> {
  const server = noting(
    await startLandServer(engine, clock, { ...outside.env, ...env }, { limits: { ...NO_LIMITS, ...limits } }),
  )
  let tick = 0
  return {
    ...server,
    register: async (eventId, editCode, coordinates) => {
      const registered = await server.send('POST', `/event/${eventId}`, { editCode, coordinates })
      expect(registered.status, registered.text).toBe(200)
      const loaded = await server.send('POST', `/addcodes/${eventId}`, { editCode })
      expect(loaded.status, loaded.text).toBe(200)
      return (registered.body.data as { uuid: string }).uuid
    },
    claim: (event, player, { body = {}, sign = {} } = {}) => {
      const path = `/claim/${event}`
      const text = JSON.stringify(body)
      tick += 1 // no two requests have the same signature, although the clock is fixed
      const headers = player.sign({ method: 'POST', path, body: text, atMs: clock.nowMs() + tick, ...sign })
      return server.send('POST', path, text, headers)
    },
  }
}

/** The same server, with every answer noted. */
function noting(server: LandServer): LandServer {
  const note = <T extends Answer>(where: string, answer: T): T => {
    answers.push({ where, text: `${JSON.stringify([...answer.headers])} ${answer.text}` })
    return answer
  }
  return {
    ...server,
    get: async (path, headers) => note(`GET ${path}`, await server.get(path, headers)),
    send: async (method, path, ...rest) =>
      note(`${method} ${path}`, await server.send(method, path, ...rest)),
    ask: async (method, path, options) => {
      const answer = await server.ask(method, path, options)
      const isImage = answer.headers['content-type']?.startsWith('image/')
      const text = isImage ? '' : answer.bytes.toString()
      answers.push({ where: `${method} ${path}`, text: `${JSON.stringify(answer.headers)} ${text}` })
      return answer
    },
  }
}

/** A player, standing where they should. */
export async function playerAt(
  outside: OutsideWorld,
  name: string,
  place: { x: number; y: number },
  atMs: number,
): Promise<SimulatedPlayer> {
  const player = makePlayer(name)
  await outside.stand(player.address, place.x, place.y, atMs)
  return player
}

/** Waits until an event's ledger has so many tokens. */
export function untilMinted(outside: OutsideWorld, eventId: number, count: number) {
  return eventually(
    () => outside.mintsOf(eventId),
    (mints) => mints.length >= count,
    20_000,
  )
}
