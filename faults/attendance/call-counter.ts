import http from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy between a server and a simulator that counts the requests by method and path. */
export interface CallCounter {
  readonly origin: string
  /** Number of requests by method and path without query, such as `POST /event/validate`. */
  readonly counts: ReadonlyMap<string, number>
  stop(): Promise<void>
}

export async function startCallCounter(target: string): Promise<CallCounter> {
  const counts = new Map<string, number>()
  const agent = new http.Agent({ keepAlive: true })
  const { hostname, port } = new URL(target)
  const server = http.createServer((request, response) => {
    const { method, url = '/', headers } = request
    const call = `${method} ${url.split('?')[0]}`
    counts.set(call, (counts.get(call) ?? 0) + 1)
    const onward = http.request({ hostname, port, method, path: url, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    onward.once('error', () => response.destroy())
    request.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    stop: async () => {
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
