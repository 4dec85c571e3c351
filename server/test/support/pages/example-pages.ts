import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import http from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

/** The address of a server that stands in each example, for the reader to replace. */
const WRITTEN_ORIGIN = 'http://127.0.0.1:3000'

const EXAMPLES = fileURLToPath(new URL('../../../../../docs/examples', import.meta.url))
const require = createRequire(import.meta.url)
const FOLDERS: Readonly<Record<string, string>> = {
  leaflet: path.join(require.resolve('leaflet/package.json'), '../dist'),
  'maplibre-gl': path.join(require.resolve('maplibre-gl/package.json'), '../dist'),
}
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
}

export interface ExampleServer {
  readonly origin: string
  close(): void
}

/**
 * A web server with the pages of docs/examples as their reader sets them up: the libraries' files beside them, and the
 * address of a Landpass in them.
 */
export async function serveExamples(landpassOrigin: string): Promise<ExampleServer> {
  const server = http.createServer((request, response) => {
    // Some browsers ask for it, and a page of examples has none.
    if (request.url === '/favicon.ico') return response.writeHead(204).end()
    answer(request.url ?? '', landpassOrigin).then(
      ({ type, body }) => response.setHeader('content-type', `${type}; charset=utf-8`).end(body),
      (error) => response.writeHead(404).end(String(error)),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function answer(
  address: string,
  landpassOrigin: string,
): Promise<{ type: string; body: Buffer | string }> {
  const [, folder = '', name = ''] = /^\/(?:([\w-]+)\/)?([\w.-]+)(?:\?.*)?$/.exec(address) ?? []
  const type = TYPES[path.extname(name)]
  const place = folder === '' ? EXAMPLES : FOLDERS[folder]
  if (!type || !place) throw new Error(`nothing is at ${address}`)
  const body = await readFile(path.join(place, name))
  return { type, body: type === 'text/html' ? withOrigin(String(body), landpassOrigin) : body }
}

function withOrigin(page: string, landpassOrigin: string): string {
  const parts = page.split(WRITTEN_ORIGIN)
  if (parts.length !== 2) throw new Error(`the page has to name ${WRITTEN_ORIGIN} once`)
  return parts.join(landpassOrigin)
}
