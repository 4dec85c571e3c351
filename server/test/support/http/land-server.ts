import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http, { type IncomingHttpHeaders } from 'node:http'
import { pathToFileURL } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { type App, type AppOptions, createApp } from '../../../src/app.ts'
import type { Clock } from '../../../src/clock.ts'
import { type Environment, type FixedLimits, readConfig } from '../../../src/config/config.ts'
import type { Engine } from '../../../src/db/engine.ts'
import { type ReadLand, readInThread } from '../../../src/state/read-in-thread.ts'
import { readState } from '../../../src/state/read-state.ts'
import { emptyDir } from '../database/engines.ts'
import { REFERENCE_TIME_MS } from '../land/reference-time.ts'
import { programPath } from '../run/programs.ts'
import { codesOf, type OpenApi, type Response, resolved } from './openapi.ts'

export { REFERENCE_TIME_MS } from '../land/reference-time.ts'

/** Reads in the bundled program of the thread, which loads 500 modules fewer than that of server/dist. */
export const readInBundledThread = readInThread(pathToFileURL(programPath('src/state/state-thread.js')))

/** Reads in the thread of the test: starting one takes seven times as long as reading a small world. The parts are cloned as in a message. */
const readHere: ReadLand = async (engine, { world, lineage }, signal) => {
  const parts = await readState(engine.db, world, lineage)
  signal.throwIfAborted()
  return structuredClone(parts)
}

/** A clock that stands still until a test moves it. */
export interface TestClock extends Clock {
  set(timeMs: number): void
}

export function testClock(startMs = REFERENCE_TIME_MS): TestClock {
  let nowMs = startMs
  return {
    nowMs: () => nowMs,
    set: (timeMs) => {
      nowMs = timeMs
    },
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; undefined where there is none. */
  readonly body: {
    readonly ok: boolean
    readonly data: unknown
    readonly error?: string
    readonly code?: string
  }
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** A whole server on a real port. */
export interface LandServer {
  readonly origin: string
  readonly app: App
  /**
   * Asks, and holds the answer to openapi.json: an undocumented status or shape fails the test. Packing and unpacking bodies takes
   * longer than making them: they come plain if `headers` name no encoding.
   */
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>
  /** The `data` of a 200. */
  data<T>(path: string): Promise<T>
  /** The same for a call that sends JSON, or nothing. */
  send(
    method: 'POST' | 'PATCH',
    path: string,
    body?: object | string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  /** Any method, with no help from `fetch`: the body comes as its bytes, compressed or not. */
  ask(method: string, path: string, options?: AskOptions): Promise<RawAnswer>
  close(): Promise<void>
}

/** Starts a server over an engine that may or may not hold a world. */
export async function startLandServer(
  engine: Engine,
  clock: Clock,
  env: Environment = {},
  {
    limits,
    ...more
  }: Pick<AppOptions, 'registries' | 'tradeContracts' | 'readLand'> & {
    readonly limits?: Partial<FixedLimits>
  } = {},
): Promise<LandServer> {
  const settings = { LOG_LEVEL: 'silent', PORT: '0', DATA_DIR: emptyDir(), EVENT_MAKERS: 'nobody', ...env }
  const config = readConfig(settings, limits)
  const app = await createApp({ config, engine, clock, readLand: readHere, ...more })
  const origin = await app.server.listen({ host: '127.0.0.1', port: 0 })
  await app.start()
  const fetchChecked = async (path: string, init: RequestInit & { method: string }) => {
    const headers = { 'accept-encoding': 'identity', ...init.headers }
    const response = await fetch(origin + path, { ...init, headers, redirect: 'manual' })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
    const body = isJson && text !== '' ? JSON.parse(text) : undefined
    check(init.method, path, response.status, body)
    return { status: response.status, headers: response.headers, text, body }
  }
  const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetchChecked(path, { method: 'GET', headers })
  return {
    origin,
    app,
    get,
    data: async <T>(path: string) => {
      const answer = await get(path)
      expect(answer.status, `${path} answered ${answer.text.slice(0, 300)}`).toBe(200)
      return answer.body.data as T
    },
    send: (method, path, body, headers = {}) => {
      if (body === undefined) return fetchChecked(path, { method, headers })
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return fetchChecked(path, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: text,
      })
    },
    ask: (method, path, options) => ask(origin + path, method, options),
    close: () => app.close(),
  }
}

async function ask(url: string, method: string, { headers = {}, body }: AskOptions = {}): Promise<RawAnswer> {
  const request = http.request(url, { method, headers, agent: false })
  request.end(body)
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  const bytes = Buffer.concat(await response.toArray())
  return { status: response.statusCode ?? 0, headers: response.headers, bytes }
}

/** Fails unless an answer is as openapi.json says. */
type AnswerCheck = (method: string, path: string, status: number, body: unknown) => void

/** Of the committed description, which a test holds to the routes: describing a server takes as long as starting it. */
const check = answerCheck(
  JSON.parse(readFileSync(new URL('../../../../openapi.json', import.meta.url), 'utf8')) as OpenApi,
)

/** Finds the operation of a path and holds an answer to what it documents. */
function answerCheck(document: OpenApi): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: false })
  ajv.addSchema(document, 'openapi')
  const patterns = Object.keys(document.paths)
    // Literal segments win over parameters, as they do in the router.
    .sort((a, b) => (a.match(/\{/g)?.length ?? 0) - (b.match(/\{/g)?.length ?? 0))
    .map((path) => ({ path, pattern: new RegExp(`^(?:/v1)?${path.replace(/\{\w+\}/g, '[^/]+')}/?$`) }))
  return (method, path, status, body) => {
    const operation = method.toLowerCase()
    // `/parcels/1,2/bids` is another way to write `/parcels/1/2/bids`, and documented there.
    const bare = path.split('?', 1)[0]?.replace(/(?<=\/parcels\/[^/,]*),(?=[^/]*\/)/, '/') ?? ''
    const found = patterns.find(({ pattern }) => pattern.test(bare))
    if (!found) return // an address that is no endpoint has no documented answer
    const answer = document.paths[found.path]?.[operation]?.responses[status]
    if (!answer) expect.fail(`openapi.json knows no ${status} of ${found.path}`)
    if (body === undefined) return
    const place =
      '$ref' in answer ? answer.$ref : `#/${inPointer('paths', found.path, operation, 'responses', status)}`
    const validate = ajv.getSchema(`openapi${place}/${inPointer('content', 'application/json', 'schema')}`)
    if (!validate?.(body)) {
      expect.fail(`${path} is not as openapi.json says: ${ajv.errorsText(validate?.errors)}`)
    }
    if (status < 400) return
    const codes = codesOf(resolved<Response>(document, answer))
    expect(codes, `${status} of ${path}`).toContain((body as { readonly code?: string }).code)
  }
}

/** A part of a JSON pointer in an address. */
function inPointer(...names: readonly (string | number)[]): string {
  return names
    .map((name) => encodeURIComponent(String(name).replace(/~/g, '~0').replace(/\//g, '~1')))
    .join('/')
}
