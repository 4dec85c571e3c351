import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { landpassHere } from '../../test/support/processes/landpass-here.ts'

const folder = mkdtempSync(join(tmpdir(), 'landpass-compare-'))
afterAll(() => rmSync(folder, { recursive: true }))

function logFile(...lines: string[]): string {
  const file = join(folder, 'requests.log')
  writeFileSync(file, lines.join('\n'))
  return file
}

/** A server with these answers, and what it was asked for. */
async function startServer(answers: Readonly<Record<string, readonly [status: number, body: string]>>) {
  const asked: string[] = []
  const server = createServer(({ method, url = '' }, response) => {
    asked.push(`${method} ${url}`)
    const [status, body] = answers[url] ?? [404, '{"ok":false}']
    const isFirst = asked.filter((request) => request.endsWith(url)).length === 1
    if (url === '/busy' && isFirst) response.writeHead(429, { 'retry-after': '0' }).end('{}')
    else response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

const access = (request: string) =>
  `10.0.0.1 - - [05/Mar/2027:20:33:20 +0000] "${request} HTTP/1.1" 200 512 "-" "x"`

test('sends each read of a log to both servers once, nothing else, and says in which fields they differ', async () => {
  const log = logFile(
    access('GET /v1/parcels/1/2'),
    access('GET /v1/parcels/1/2'),
    access('GET /v1/parcels/3/-4?x=1'),
    access('POST /claim/90001'),
    'https://api.example.org/busy',
    '/moved',
    'what is this',
    'GET /../outside',
  )
  const there = await startServer({
    '/v1/parcels/1/2': [200, '{"ok":true,"data":{"x":1,"owner":null}}'],
    '/v1/parcels/3/-4?x=1': [200, '{"ok":true,"data":{"x":3,"owner":null}}'],
    '/busy': [200, 'ok'],
    '/moved': [302, ''],
  })
  const here = await startServer({
    '/v1/parcels/1/2': [200, '{"ok":true,"data":{"x":1,"owner":"0x1"}}'],
    '/v1/parcels/3/-4?x=1': [200, '{"ok":true,"data":{"x":3,"owner":"0x2"}}'],
    '/busy': [200, 'ok'],
    '/moved': [200, '{}'],
  })

  const { code, stdout } = await landpassHere([
    'compare',
    log,
    '--there',
    there.url,
    '--here',
    `${here.url}/`,
  ])

  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toEqual({
    skipped: { other_methods: 1, unreadable: 2, beyond: 0 },
    compared: 3,
    same: 1,
    unanswered: { count: 1, examples: ['/moved'] },
    fields: [
      {
        ...{ address: '/v1/parcels/*/*', field: 'data.owner', requests: 2 },
        ...{ example: '/v1/parcels/1/2', there: 'null', here: '"0x1"' },
      },
    ],
    beyond: 0,
  })
  const once = ['/v1/parcels/1/2', '/v1/parcels/3/-4?x=1', '/busy', '/busy', '/moved']
  for (const { asked } of [there, here]) expect(asked).toEqual(once.map((path) => `GET ${path}`))
})

test('ends with 0 where all answers are alike, and says what is wrong with a log', async () => {
  const { url } = await startServer({ '/': [200, '{"ok":true}'] })

  const alike = await landpassHere(['compare', logFile('/', '/gone'), '--there', url, '--here', url])
  const empty = await landpassHere(['compare', logFile(access('POST /')), '--there', url, '--here', url])
  const missing = await landpassHere(['compare', join(folder, 'no.log'), '--there', url, '--here', url])

  expect([alike.code, JSON.parse(alike.stdout).same]).toEqual([0, 2])
  expect([empty.code, empty.stderr]).toEqual([1, expect.stringContaining('has no GET request')])
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('cannot be read')])
})
