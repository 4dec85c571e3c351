import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { SIZES, SOON, testBrowser } from './browser.ts'
import { BROWSER_VARIABLE, launchBrowser } from './browser-program.ts'

const PAGE = `<!doctype html>
<link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width, initial-scale=1">`

describe('the browser of the tests', () => {
  const open = testBrowser()
  const hosts: (string | undefined)[] = []
  const server = http.createServer((request, response) => {
    hosts.push(request.headers.host)
    response.setHeader('content-type', 'text/html').end(PAGE)
  })
  let port: number
  beforeAll(async () => {
    server.listen(0)
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => {
    server.close()
    server.closeAllConnections()
  })

  test('reaches 127.0.0.1 only, and reports a page or worker that tries another host', async () => {
    const { page, problems } = await open(`http://127.0.0.1:${port}/`, { size: 'desktop' })
    const addresses = [`http://localhost:${port}/name`, 'http://192.0.2.1/number', 'https://land.example/far']

    for (const address of addresses) {
      const asks = `fetch('${address}', { mode: 'no-cors' }).catch(() => postMessage('failed'))`
      await page.evaluate(`fetch('${address}', { mode: 'no-cors' }).catch(() => {})`)
      await page.evaluate(`new Promise((resolve) => {
        const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(asks)}])))
        worker.onmessage = resolve
      })`)
    }

    // Sorted: what a worker did can be reported after what its page did next
    const startingWith = (start: string) => problems.filter((problem) => problem.startsWith(start)).sort()
    const twiceEach = (start: string) =>
      addresses.flatMap((address) => [start + address, start + address]).sort()
    await expect
      .poll(() => startingWith('net::ERR_NAME_NOT_RESOLVED: '), SOON)
      .toEqual(twiceEach('net::ERR_NAME_NOT_RESOLVED: '))
    expect(startingWith('foreign request: ')).toEqual(twiceEach('foreign request: '))
    expect(hosts).toEqual([`127.0.0.1:${port}`])
    problems.length = 0
  })

  test('reports errors of a page', async () => {
    const { page, problems } = await open(`http://127.0.0.1:${port}/`, { size: 'phone', scale: 2 })

    await page.evaluate(`console.error('a red line')`)
    await page.evaluate(`setTimeout(() => { throw new Error('a slip') })`)
    await page.evaluate(`fetch('http://127.0.0.1:1/closed').catch(() => {})`)
    await expect.poll(() => problems.length, SOON).toBeGreaterThanOrEqual(4)

    const found = problems.splice(0)
    expect(found).toContain('console: a red line')
    expect(found).toContain('thrown: Error: a slip')
    expect(found.join('\n')).toMatch(/^net::ERR_\w+: http:\/\/127.0.0.1:1\/closed$/m)
  })

  test('has the requested screen', async () => {
    for (const size of ['phone', 'desktop'] as const) {
      for (const scale of [1, 2]) {
        const { look } = await open(`http://127.0.0.1:${port}/`, { size, scale })
        const { width, height } = await look()
        expect([width, height]).toEqual([SIZES[size].width * scale, SIZES[size].height * scale])
      }
    }
  })

  test('can be replaced by another one, which must exist', async () => {
    vi.stubEnv(BROWSER_VARIABLE, '/no/such/browser')
    try {
      await expect(launchBrowser()).rejects.toThrow(
        'LANDPASS_BROWSER names /no/such/browser, where there is no browser.',
      )
    } finally {
      vi.unstubAllEnvs()
    }
  })
})
