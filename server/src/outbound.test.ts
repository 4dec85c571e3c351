import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { OWN_CERTIFICATE } from '../test/support/http/own-certificate.ts'
import { ask, askAddress, type ConnectionProblem, type OutboundAnswer, OutboundError } from './outbound.ts'

const LIMITS = { timeoutMs: 1_000, maxBytes: 1_000 }

test('sends requests below its base address, with JSON in both directions', async () => {
  const baseUrl = await partner((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      response.end(
        JSON.stringify({ method: request.method, url: request.url, body, key: request.headers['x-key'] }),
      )
    })
  })

  const answer = await ask(
    { baseUrl: `${baseUrl}/api`, ...LIMITS },
    { method: 'POST', path: '/codes', json: { a: 1 }, headers: { 'x-key': 'k' } },
  )

  expect(answer).toEqual<OutboundAnswer>({
    status: 200,
    json: { method: 'POST', url: '/api/codes', body: '{"a":1}', key: 'k' },
    retryAfterMs: undefined,
  })
})

test('an error page is an answer without JSON; Retry-After is read', async () => {
  const baseUrl = await partner((_request, response) => {
    response.writeHead(429, { 'retry-after': '7', 'content-type': 'text/html' }).end('<html>slow down</html>')
  })

  expect(await ask({ baseUrl, ...LIMITS }, { method: 'GET', path: '/' })).toEqual({
    status: 429,
    json: undefined,
    retryAfterMs: 7_000,
  })
})

test('follows no redirect: its target gets no request', async () => {
  let reached = 0
  const elsewhere = await partner((_request, response) => {
    reached += 1
    response.end('{}')
  })
  const baseUrl = await partner((_request, response) => {
    response.writeHead(302, { location: elsewhere }).end()
  })

  await expect(ask({ baseUrl, ...LIMITS }, { method: 'GET', path: '/' })).rejects.toMatchObject({
    failure: 'redirect',
  })
  expect(reached).toBe(0)
})

test('says why a service is not reached', async () => {
  const listen = async (server: Server) => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return `127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const writes = (bytes: Buffer | string) =>
    createTcpServer((socket) => {
      socket.on('error', () => undefined)
      socket.end(bytes)
    })
  const plain = await listen(createServer((_request, response) => response.end('{}')))
  const secure = await listen(createTlsServer(OWN_CERTIFICATE))
  const problems: [string, ConnectionProblem | undefined][] = [
    ['http://127.0.0.1:1', 'nothing_listens'],
    ['http://no-such-host.invalid', 'unknown_host'],
    [`https://${secure}`, 'certificate'],
    [`https://${plain}`, 'speaks_no_tls'],
    [`http://${await listen(writes(Buffer.from([0x15, 3, 1, 0, 2, 2, 70])))}`, 'speaks_tls'],
    [`http://${await listen(createHttp2Server())}`, 'http2_only'],
    [`http://${await listen(writes('SSH-2.0-OpenSSH_9.6\r\n'))}`, 'no_http'],
    [`http://${await listen(writes(''))}`, undefined],
  ]
  for (const [address, problem] of problems) {
    const limits = { ...LIMITS, timeoutMs: 60_000 }
    const failed = askAddress(new URL(address), limits, { method: 'POST', json: {} })
    await expect(failed, address).rejects.toMatchObject({ failure: 'unreachable', problem })
  }
})

test('has a limit on size', async () => {
  const baseUrl = await partner((_request, response) => {
    response.end(`"${'x'.repeat(2_000)}"`)
  })

  await expect(ask({ baseUrl, ...LIMITS }, { method: 'GET', path: '/' })).rejects.toMatchObject({
    failure: 'too_large',
  })
})

test('has a limit on the time of the whole answer, body included', async () => {
  const baseUrl = await partner((_request, response) => {
    response.writeHead(200).write('"never')
  })

  await expect(
    ask({ baseUrl, timeoutMs: 100, maxBytes: 1_000 }, { method: 'GET', path: '/' }),
  ).rejects.toMatchObject({ failure: 'timeout' })
})

test('compressed answers are read; the limits hold for what they contain, and for damaged ones', async () => {
  let body = gzipSync('\ufeff{"a":1}')
  const baseUrl = await partner((_request, response) => {
    response.writeHead(200, { 'content-encoding': 'GZip' }).end(body)
  })
  const request = { method: 'GET', path: '/', headers: { 'accept-encoding': 'gzip' } } as const

  expect(await ask({ baseUrl, ...LIMITS }, request)).toMatchObject({ status: 200, json: { a: 1 } })
  body = gzipSync(`"${'x'.repeat(1_000_000)}"`)
  await expect(ask({ baseUrl, ...LIMITS }, request)).rejects.toMatchObject({ failure: 'too_large' })
  body = body.subarray(0, 20)
  await expect(ask({ baseUrl, ...LIMITS }, request)).rejects.toMatchObject({ failure: 'unreachable' })
})

test('an address may have a query, a user and a password; a signal ends the call with its reason', async () => {
  const stop = new AbortController()
  const baseUrl = await partner((request, response) => {
    if (request.url === '/hang') stop.abort(new Error('the program ends'))
    else response.end(JSON.stringify({ url: request.url, authorization: request.headers.authorization }))
  })
  const address = new URL(baseUrl.replace('://', '://ann:s%20cret@'))
  address.search = '?key=1'

  expect((await askAddress(address, LIMITS, { method: 'GET' })).json).toEqual({
    url: '/?key=1',
    authorization: `Basic ${Buffer.from('ann:s cret').toString('base64')}`,
  })
  const limits = { ...LIMITS, timeoutMs: 60_000, signal: stop.signal }
  const hanging = askAddress(new URL(`${baseUrl}/hang`), limits, { method: 'GET' })
  await expect(hanging).rejects.toThrow('the program ends')
})

test('when nothing listens, the error names no address', async () => {
  const error = await ask(
    { baseUrl: 'http://127.0.0.1:1', ...LIMITS },
    { method: 'GET', path: '/secret' },
  ).catch((thrown) => thrown)

  expect(error).toBeInstanceOf(OutboundError)
  expect(`${error.message}${JSON.stringify(error)}`).not.toMatch(/127|secret/)
})

test.each(['//evil.example/x', '/../../x', '@evil.example/'])(
  'a path that would lead away, %s, is not asked',
  async (path) => {
    await expect(
      ask({ baseUrl: 'http://127.0.0.1:1/api', ...LIMITS }, { method: 'GET', path }),
    ).rejects.toThrow()
  },
)

async function partner(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
