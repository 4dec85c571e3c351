import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { AppError, internalError } from '../errors.ts'
import { VERSION } from '../version.ts'
import { COMMON_HEADERS } from './common-headers.ts'
import { errorJson } from './error-handler.ts'
import type { ReadinessCheck } from './health.ts'
import type { Metrics } from './metrics.ts'

/** Where metrics are served apart from everything else. */
export interface MetricsAddress {
  readonly host: string
  readonly port: number
  readonly path: string
}

export interface MetricsServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * Serves the metrics on a port of their own: for a network that clients do not reach.
 *
 * @param ready where it is given, the port also answers `/health/live`, and `/health/ready` by this check: for a process
 *   that serves nothing else
 * @throws the error of the system if it cannot listen, for example `EADDRINUSE`
 * @example
 * const server = await serveMetrics(metrics, { host: '127.0.0.1', port: 9100, path: '/metrics' })
 * await server.close()
 */
export async function serveMetrics(
  metrics: Metrics,
  address: MetricsAddress,
  ready?: ReadinessCheck,
): Promise<MetricsServer> {
  const { host, port, path } = address
  const pages: Pages = {
    [path]: (response) => sendMetrics(metrics, response),
    ...(ready && {
      '/health/live': async (response) => sendJson(response, 200, LIVE),
      '/health/ready': (response) => sendReady(ready, response),
    }),
  }
  const server = http.createServer((request, response) => void answer(pages, path, request, response))
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as { port: number }).port,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What answers each path. */
type Pages = Readonly<Record<string, (response: ServerResponse) => Promise<void>>>

const LIVE = JSON.stringify({ ok: true, data: { status: 'live', version: VERSION } })

async function answer(
  pages: Pages,
  metricsPath: string,
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = url?.split('?', 1)[0] ?? ''
  const isRead = method === 'GET' || method === 'HEAD'
  const page = isRead && Object.hasOwn(pages, path) ? pages[path] : undefined
  if (page) await page(response)
  else send(response, 404, `The metrics are at ${metricsPath}.\n`)
}

async function sendMetrics(metrics: Metrics, response: ServerResponse): Promise<void> {
  try {
    const text = await metrics.text()
    response.setHeader('content-type', metrics.registry.contentType)
    send(response, 200, text)
  } catch {
    send(response, 500, 'A metric could not be read.\n')
  }
}

async function sendReady(ready: ReadinessCheck, response: ServerResponse): Promise<void> {
  try {
    sendJson(response, 200, JSON.stringify({ ok: true, data: { status: 'ready', ...(await ready()) } }))
  } catch (error) {
    const known = error instanceof AppError ? error : internalError()
    sendJson(response, known.status, errorJson(known))
  }
}

function sendJson(response: ServerResponse, status: number, json: string): void {
  response.setHeader('content-type', 'application/json; charset=utf-8')
  send(response, status, json)
}

function send(response: ServerResponse, status: number, text: string): void {
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.writeHead(status, { ...COMMON_HEADERS, 'cache-control': 'no-store' }).end(text)
}
