import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inParallel, type Script, sized, tally, type Verdict } from '../script.ts'
import { type CallCounter, startCallCounter } from './call-counter.ts'
import { type Call, jsonCall, outcomeOf } from './calls.ts'
import { makePlayers, type Player } from './players.ts'
import { type BenchEvent, PLACE, type Rig, withRig } from './rig.ts'
import { ssrfValues } from './ssrf-values.ts'

const SINKS = 3
const WIDTH = 16
const RECORDER = new URL('./connection-recorder.js', import.meta.url).href

export const ssrf: Script = {
  about:
    '250 addresses in every input: no connection but to the configured issuer, presence provider and database',
  run: async ({ seed, engine, processes, scale }, verdict) => {
    const folder = mkdtempSync(join(tmpdir(), 'landpass-ssrf-'))
    const file = join(folder, 'connections')
    const sinks = await startSinks()
    const counters: CallCounter[] = []
    try {
      const via = async ({
        issuer,
        presence,
      }: {
        issuer: { origin: string }
        presence: { origin: string }
      }) => {
        counters.push(await startCallCounter(issuer.origin), await startCallCounter(presence.origin))
        return { issuer: counters[0]!.origin, presence: counters[1]!.origin }
      }
      const env = {
        NODE_OPTIONS: `--import=${RECORDER}`,
        CONNECTIONS_FILE: file,
        // A server behind a trusted proxy reads more headers
        TRUSTED_PROXIES: '127.0.0.1',
      }
      await withRig({ engine, processes, env, via }, async (rig) => {
        const values = ssrfValues(sinks.ports)
        await sendAll(rig, seed, values.slice(0, sized(values.length, scale)), verdict)
        const allowed = [...counters.map(({ origin }) => origin), ...(rig.postgres ? [rig.postgres.url] : [])]
        checkConnections(file, allowed, verdict)
      })
      verdict.equal('connections to the listeners', sinks.connections(), 0)
      const strange = counters
        .flatMap(({ counts }) => [...counts.keys()])
        .filter((call) => !KNOWN_CALL.test(call))
      verdict.expect(strange.length === 0, `calls to unexpected paths: ${strange.join(', ')}`)
    } finally {
      for (const counter of counters) await counter.stop()
      sinks.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

/** All calls that the server may send to issuer and presence provider. */
const KNOWN_CALL =
  /^(POST \/oauth\/token|GET \/events\/id\/\d+|POST \/event\/validate|POST \/event\/\d+\/qr-codes|(GET|POST) \/actions\/claim-qr|GET \/actions\/scan\/0x[\da-fA-F]{40}(\/\d+)?|GET \/scene-participants)$/

/** Listeners on this machine that must get no connection; their answers are redirects to the second listener. */
async function startSinks(): Promise<{ ports: readonly number[]; connections(): number; stop(): void }> {
  let connections = 0
  const ports: number[] = []
  const servers = Array.from({ length: SINKS }, () =>
    http.createServer((_request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${ports[1]}/` })
      response.end()
    }),
  )
  for (const server of servers) {
    server.on('connection', () => {
      connections += 1
    })
    // Listens on IPv4 and IPv6 where the machine has both
    await new Promise<void>((resolve) => server.listen(0, resolve))
    ports.push((server.address() as AddressInfo).port)
  }
  const stop = () => {
    for (const server of servers) server.close()
  }
  return { ports, connections: () => connections, stop }
}

async function sendAll(rig: Rig, seed: number, values: readonly string[], verdict: Verdict): Promise<void> {
  const inputs = Object.entries(INPUTS)
  // Each signed request has another player: the second claim of a player would be refused early
  const signedInputs = inputs.filter(([name]) => SIGNED.test(name)).map(([name]) => name)
  const players = makePlayers(seed, 'ssrf', (1 + signedInputs.length) * values.length)
  await rig.presence.putCrowd(
    players.map(({ address }) => address),
    PLACE,
  )
  const event = await rig.newEvent(players.length)
  const guessed = await rig.newEvent(1)
  for (const [name, input] of inputs) {
    const firstPlayer = (1 + signedInputs.indexOf(name)) * values.length
    const replies = await inParallel(values, WIDTH, async (value, i) => {
      const place = { event, guessed, player: players[firstPlayer + i]!, at: i }
      try {
        return await rig.caller.send(rig.originOf(i), input(value, place))
      } catch {
        return undefined // the value is not valid in HTTP
      }
    })
    const outcomes = replies.map((reply) => (reply ? outcomeOf(reply) : 'cannot be sent'))
    console.log(`${name}: ${tally(outcomes)}`)
    const failed = outcomes.filter((outcome) => /^5/.test(outcome))
    verdict.expect(failed.length === 0, `${name}: ${tally(failed)}`)
  }
}

interface Place {
  readonly event: BenchEvent
  /** A second registered event, which gets wrong edit codes. */
  readonly guessed: BenchEvent
  readonly player: Player
  readonly at: number
}

type Input = (value: string, place: Place) => Call

const CLAIM_BODIES = ['catalyst', 'room', 'address', 'captcha', 'proof'] as const
const HEADERS = [
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'forwarded',
  'referer',
  'origin',
  'x-original-url',
  'x-rewrite-url',
  'user-agent',
] as const
/** Ids from here on are not registered: each value is a guess for another event. */
const GUESSED_FROM = 800_000

/** The names of inputs in signed requests. */
const SIGNED = /^(signed claim|metadata|header)\b/

/** Every input that can hold a text of a client. */
const INPUTS: Readonly<Record<string, Input>> = {
  ...Object.fromEntries(CLAIM_BODIES.map((field) => [`claim, body ${field}`, claimBody(field)])),
  ...Object.fromEntries(CLAIM_BODIES.map((field) => [`signed claim, body ${field}`, signedClaimBody(field)])),
  'register, coordinates': (value, { event }) =>
    jsonCall('POST', `/event/${event.id}`, { editCode: event.editCode, coordinates: value }),
  'register, editCode': (value, { at }) =>
    jsonCall('POST', `/event/${GUESSED_FROM + at}`, { editCode: value, coordinates: '10,20' }),
  'change, coordinates': (value, { event }) =>
    jsonCall('PATCH', `/event/${event.id}`, { editCode: event.editCode, options: [['coordinates', value]] }),
  'change, name of an option': (value, { event }) =>
    jsonCall('PATCH', `/event/${event.id}`, { editCode: event.editCode, options: [[value, value]] }),
  'load codes, editCode': (value, { guessed }) =>
    jsonCall('POST', `/addcodes/${guessed.id}`, { editCode: value }),
  'report, editCode': (value, { guessed }) =>
    jsonCall('POST', `/event/${guessed.id}/report`, { editCode: value }),
  'path of an event': (value) => get(`/event/${encodeURIComponent(value)}`),
  'path of an event, not encoded': (value) => get(`/event/${inPath(value)}`),
  'path of an availability': (value) => get(`/event/${encodeURIComponent(value)}/availability`),
  'path of a captcha': (value) => get(`/captcha/${encodeURIComponent(value)}`),
  'path of a claim': (value) => jsonCall('POST', `/claim/${encodeURIComponent(value)}`, {}),
  'path of a registration': (value) =>
    jsonCall('POST', `/event/${encodeURIComponent(value)}`, { editCode: '000000', coordinates: '10,20' }),
  'the whole target, as to a proxy': (value) => ({ ...jsonCall('POST', inPath(value), {}) }),
  'query of a claim': (value, { event }) =>
    jsonCall('POST', `/claim/${event.uuid}?catalyst=${encodeURIComponent(value)}`, {}),
  'metadata, realm.hostname': signedFrom((value) => ({
    realm: { hostname: value, protocol: 'v3', serverName: 'main' },
  })),
  'metadata, realm.domain': signedFrom((value) => ({
    realm: { domain: value, catalystName: value, layer: 'blue' },
  })),
  'metadata, realm.serverName': signedFrom((value) => ({
    realm: { hostname: 'realm-provider.decentraland.org', protocol: 'v3', serverName: value },
  })),
  'metadata, realm': signedFrom((value) => ({ realm: value })),
  'metadata, origin': signedFrom((value) => ({ origin: value })),
  'metadata, parcel': signedFrom((value) => ({ parcel: value })),
  'metadata, sceneId': signedFrom((value) => ({ sceneId: value })),
  ...Object.fromEntries(HEADERS.map((name) => [`header ${name}`, signedWithHeader(name)])),
}

function claimBody(field: string): Input {
  return (value, { event, player }) =>
    jsonCall('POST', `/claim/${event.uuid}`, { address: player.address, captcha: 'abc', [field]: value })
}

function signedClaimBody(field: string): Input {
  return (value, { event, player }) => {
    const body = JSON.stringify({ [field]: value })
    const path = `/claim/${event.uuid}`
    return signed(player, { method: 'POST', path, body })
  }
}

/** Puts the value into the signed metadata of a claim or of a captcha request, in turn. */
function signedFrom(metadata: (value: string) => Readonly<Record<string, unknown>>): Input {
  return (value, { event, player, at }) => {
    const path = at % 2 === 0 ? `/claim/${event.uuid}` : '/captcha'
    return signed(player, { method: 'POST', path, body: at % 2 === 0 ? '{}' : '' }, metadata(value))
  }
}

function signedWithHeader(name: string): Input {
  return (value, { event, player }) => {
    const call = signed(player, { method: 'POST', path: `/claim/${event.uuid}`, body: '{}' })
    // Other characters than ASCII are sent as UTF-8 bytes
    return { ...call, headers: { ...call.headers, [name]: Buffer.from(value, 'utf8').toString('latin1') } }
  }
}

let lastMs = 0

function signed(
  player: Player,
  { method, path, body }: { method: string; path: string; body: string },
  metadata: Readonly<Record<string, unknown>> = {},
): Call {
  lastMs = Math.max(lastMs + 1, Date.now()) // all times differ: no request is a replay
  const headers = player.sign({ method, path, body, atMs: lastMs, metadata })
  return {
    method,
    path,
    headers: { ...asciiOnly(headers), 'content-type': 'application/json' },
    ...(body === '' ? {} : { body }),
  }
}

/** Header values are sent as bytes: UTF-8, which Node.js takes as Latin-1. */
function asciiOnly(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Buffer.from(value, 'utf8').toString('latin1')]),
  )
}

function get(path: string): Call {
  return { method: 'GET', path, headers: {} }
}

/** The value as it may stand in a request line. */
function inPath(value: string): string {
  return Buffer.from(value.trim(), 'utf8')
    .toString('latin1')
    .replace(/[^\x21-\x7e]/g, encodeURIComponent)
}

function checkConnections(file: string, allowed: readonly string[], verdict: Verdict): void {
  const places = new Set(existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
  const expected = new Set(allowed.map((address) => new URL(address).host))
  console.log(`connections were made to: ${[...places].join(', ')}`)
  const others = [...places].filter((place) => !expected.has(place))
  verdict.expect(others.length === 0, `connections to others: ${others.join(', ')}`)
  const missing = [...expected].filter((place) => !places.has(place))
  // Checks that the recorder works
  verdict.expect(missing.length === 0, `no connection was recorded to: ${missing.join(', ')}`)
}
