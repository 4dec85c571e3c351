import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The server that every figure is compared with: a bare `node:http` server that answers 2 kB. */
const body = Buffer.alloc(2048, 'x')
const server = createServer((_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
})
server.listen(0, '127.0.0.1', () => {
  process.send?.({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
