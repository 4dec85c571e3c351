import { once } from 'node:events'
import { brotliDecompressSync } from 'node:zlib'
import { restOf, startReading } from '@landpass/server/test/support/http/slow-reading'
import { fullDemo } from '@landpass/server/test/support/land/demo-snapshots'
import { type Serving, serve } from '@landpass/server/test/support/processes/landpass'
import { memoryMb } from '@landpass/server/test/support/processes/measured-processes'
import { beforeAll, describe, expect, test } from 'vitest'

const PARCELS = 301 * 301
const WHOLE_WORLD = '/v2/tiles'
/** The answer has 22 MB. A server that holds it for each client needs far more than this. */
const READERS = 6
const READERS_BOUND_MB = 60
const QUERIES = 500
/** The texts of all tiles, 23 MB; the rest is what a busy process has not tidied up yet. */
const QUERIES_BOUND_MB = 80
/** The second thousand finds all texts cached. A cache of whole answers would need 100 MB. */
const AGAIN_BOUND_MB = 40

let server: Serving

beforeAll(async () => {
  server = await serve({ ...(await fullDemo()), LOG_LEVEL: 'warn' })
})

describe('the tiles of the whole world', () => {
  test('are valid JSON with every parcel once, by x, then from north to south', async () => {
    const text = await (await fetch(server.origin + WHOLE_WORLD)).text()
    const { ok, data } = JSON.parse(text) as { ok: boolean; data: Record<string, { x: number; y: number }> }

    expect(ok).toBe(true)
    expect(Object.keys(data)).toHaveLength(PARCELS)
    let row = 0
    for (const [key, { x, y }] of Object.entries(data)) {
      const place = { x: -150 + Math.floor(row / 301), y: 150 - (row % 301) }
      if (key !== `${x},${y}` || x !== place.x || y !== place.y)
        expect.fail(`${key} stands where ${place.x},${place.y} belongs`)
      row += 1
    }
    const coded = await bytesOf(WHOLE_WORLD, { 'accept-encoding': 'br' })
    expect(brotliDecompressSync(coded).toString() === text).toBe(true)
  })

  test.runIf(process.platform === 'linux')(
    'cost little memory, however many read them, slowly or only by half, compressed or not',
    async () => {
      const before = memoryMb(server.child.pid, 'VmRSS')
      let highest = before
      const measure = () => {
        highest = Math.max(highest, memoryMb(server.child.pid, 'VmRSS'))
      }
      const address = server.origin + WHOLE_WORLD
      const slow = await startReading(address)
      const half = await startReading(address)
      const leave = once(half, 'close')
      half.destroy()
      await leave

      for (const compression of ['identity', 'br', 'gzip']) {
        const headers = { 'accept-encoding': compression }
        const sizes = await Promise.all(
          Array.from({ length: READERS }, async () => restOf(await startReading(address, headers), measure)),
        )
        expect(new Set(sizes).size, compression).toBe(1)
      }

      expect(highest - before).toBeLessThan(READERS_BOUND_MB)
      slow.destroy()
    },
  )
})

test.runIf(process.platform === 'linux')(
  'hundreds of different questions do not fill the memory, and as many more hardly need any',
  async () => {
    await askFor(0, 20)
    const before = memoryMb(server.child.pid, 'VmRSS')

    await askFor(0, QUERIES)
    const after = memoryMb(server.child.pid, 'VmRSS')
    await askFor(QUERIES, 2 * QUERIES)
    const again = memoryMb(server.child.pid, 'VmRSS')

    expect(after - before).toBeLessThan(QUERIES_BOUND_MB)
    expect(again - after).toBeLessThan(AGAIN_BOUND_MB)
  },
)

/** Areas that differ in place and size, with different fields, in both versions, some of them of the whole world. */
async function askFor(from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const x = ((i * 37) % 290) - 150
    const y = ((i * 91) % 290) - 150
    const area = `x1=${x}&y1=${y}&x2=${x + (i % 30)}&y2=${y + 20}&n=${i}`
    const fields = ['', '&include=type,price', '&exclude=tokenId', ''][i % 4]
    await bytesOf(`/v${1 + (i % 2)}/tiles?${area}${fields}`)
    if (i % 100 === 0) await bytesOf(`/v2/tiles?include=type&n=${i}`, { 'accept-encoding': 'gzip' })
  }
}

async function bytesOf(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Buffer> {
  const response = await startReading(server.origin + path, headers)
  expect(response.statusCode).toBe(200)
  return Buffer.concat(await response.toArray())
}
