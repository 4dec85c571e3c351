import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import { COMMON_HEADERS } from './common-headers.ts'
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
 * Serves the metrics, and nothing else, on a port of their own: for a network that clients do not reach.
 *
 * @throws the error of the system if it cannot listen, for example `EADDRINUSE`
 * @example
 * const server = await serveMetrics(metrics, { host: '127.0.0.1', port: 9100, path: '/metrics' })
 * await server.close()
 */
export async function serveMetrics(metrics: Metrics, address: MetricsAddress): Promise<MetricsServer> {
  const { host, port, path } = address
  const server = http.createServer((request, response) => void answer(metrics, path, request, response))
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

async function answer(
  { registry }: Metrics,
  path: string,
  { method, url }: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isFound = (method === 'GET' || method === 'HEAD') && url?.split('?', 1)[0] === path
  if (!isFound) {
    send(response, 404, `The metrics are at ${path}.\n`)
    return
  }
  try {
    const text = await registry.metrics()
    response.setHeader('content-type', registry.contentType)
    send(response, 200, text)
  } catch {
    send(response, 500, 'A metric could not be read.\n')
  }
}

function send(response: ServerResponse, status: number, text: string): void {
  if (!response.hasHeader('content-type')) response.setHeader('content-type', 'text/plain; charset=utf-8')
  response.writeHead(status, { ...COMMON_HEADERS, 'cache-control': 'no-store' }).end(text)
}
