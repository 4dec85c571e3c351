import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import {
  SIMULATED_API_KEY,
  SIMULATED_CLIENT_ID,
  SIMULATED_CLIENT_SECRET,
  startIssuerSimulator,
} from '@landpass/simulators/issuer/issuer-simulator'
import { expect, onTestFinished } from 'vitest'
import { IssuerError } from '../../../src/attendance/issuers/issuer.ts'
import { SECOND_MS } from '../../../src/clock.ts'
import { type IssuerConfig, SLOW_ISSUER_CALLS_PER_SECOND } from '../../../src/config/config.ts'

/** What a server needs to call an issuer at this address; fast, so that no test waits for its turn. */
export function issuerConfig(address: string, overrides: Partial<IssuerConfig> = {}): IssuerConfig {
  return {
    url: address,
    tokenUrl: `${address}/oauth/token`,
    audience: 'https://issuer.example',
    apiKey: SIMULATED_API_KEY,
    clientId: SIMULATED_CLIENT_ID,
    clientSecret: SIMULATED_CLIENT_SECRET,
    timeoutMs: 5 * SECOND_MS,
    callsPerSecond: 10_000,
    slowCallsPerSecond: SLOW_ISSUER_CALLS_PER_SECOND,
    ...overrides,
  }
}

/** The simulator in this process; gone after the test. */
export async function startSimulatedIssuer(
  settings: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const simulator = await startIssuerSimulator({ host: '127.0.0.1', port: 0, seed: 1 })
  onTestFinished(() => simulator.close())
  await tellSimulator(simulator.address, 'PATCH', 'settings', settings)
  return simulator.address
}

/** Speaks to the simulator itself. @returns the JSON of its answer */
export async function tellSimulator<T = unknown>(
  address: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const response = await fetch(`${address}/simulator/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  expect(response.status, `${method} ${path}`).toBe(200)
  return (await response.json()) as T
}

export interface HeardRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly json: unknown
}

/** Answers as a test says; the token address is no exception. */
export type Respond = (request: HeardRequest, response: ServerResponse) => void

/** A party that behaves as no issuer should; gone after the test. */
export async function startOddIssuer(respond: Respond): Promise<{ address: string; heard: HeardRequest[] }> {
  const heard: HeardRequest[] = []
  const server = http.createServer(async (message, response) => {
    const request = await read(message)
    heard.push(request)
    respond(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

/** A good token for everybody who asks. */
export function sendToken(response: ServerResponse, text: string, lifeS = 86_400): void {
  sendJson(response, 200, { access_token: text, expires_in: lifeS, scope: '', token_type: 'Bearer' })
}

/** The error with which a call of an issuer fails. */
export async function failureOf(promise: Promise<unknown>): Promise<IssuerError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(IssuerError)
  return error as IssuerError
}

/** Everything that an error and its causes show. */
export function textOfError(error: unknown): string {
  return `${inspect(error, { depth: 10, showHidden: true })} ${JSON.stringify(error)}`
}

async function read(message: IncomingMessage): Promise<HeardRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  return {
    method: message.method ?? '',
    path: message.url ?? '',
    headers: message.headers,
    json: text === '' ? undefined : JSON.parse(text),
  }
}
