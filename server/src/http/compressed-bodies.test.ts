import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { CompressedBodies, CompressedForms, type GrowingBody, SmallBody } from './compressed-bodies.ts'

const MIB = 1024 * 1024
const UNPACK = { br: brotliDecompressSync, gzip: gunzipSync }

describe('a large body', () => {
  test.each(['br', 'gzip'] as const)(
    'decompresses to its pieces, for clients that come while it is made and later: %s',
    async (encoding) => {
      const plain = pieces(5 * MIB)
      const bodies = new CompressedBodies()
      const body = bodies.large('map', 'a', encoding, () => plain)
      expect(body.whole).toBeUndefined()

      const early = await Promise.all([read(body), read(body)])
      const late = await read(bodies.large('map', 'a', encoding, nothing))

      const bytes = Buffer.concat(plain)
      for (const compressed of [...early, late]) expect(UNPACK[encoding](compressed).equals(bytes)).toBe(true)
      expect(body.whole?.length).toBeLessThan(bytes.length / 2)
    },
  )

  test('is made once for all clients, and again for another tag, name or encoding', async () => {
    const bodies = new CompressedBodies()
    let begun = 0
    const make = () => {
      begun += 1
      return pieces(MIB)
    }
    const body = bodies.large('map', 'a', 'gzip', make)
    expect(bodies.large('map', 'a', 'gzip', make)).toBe(body)
    const others = [
      bodies.large('map', 'a', 'br', make),
      bodies.large('other', 'a', 'gzip', make),
      bodies.large('map', 'b', 'gzip', make),
    ]
    expect(new Set([body, ...others]).size).toBe(4)

    await Promise.all([body, ...others].map(read))

    expect(begun).toBe(4)
    expect(bodies.large('map', 'b', 'gzip', nothing)).toBe(others[2])
    expect(bodies.large('map', 'a', 'gzip', make)).not.toBe(body)
  })

  test('is made when the large body before it is complete', async () => {
    const bodies = new CompressedBodies()
    const order: string[] = []
    function* logged(name: string): Generator<Uint8Array> {
      order.push(`${name} begins`)
      yield* pieces(MIB)
      order.push(`${name} ends`)
    }
    const names = ['a', 'b', 'c']

    await Promise.all(names.map((name) => read(bodies.large(name, '1', 'br', () => logged(name)))))

    expect(order).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]))
  })

  test('reaches its clients before it is complete', async () => {
    const plain = Array.from({ length: 40 }, (_, i) => noise(64 * 1024, i))
    const body = new CompressedBodies().large('map', 'a', 'gzip', () => plain)

    const first = await body.read().next()
    expect([first.done, body.whole]).toEqual([false, undefined])

    expect(gunzipSync(await read(body)).equals(Buffer.concat(plain))).toBe(true)
  })

  test('that fails passes its error to its clients, and is made again for the next one', async () => {
    const bodies = new CompressedBodies()
    function* broken(): Generator<Uint8Array> {
      yield noise(MIB, 1)
      throw new Error('no more of it')
    }
    const body = bodies.large('map', 'a', 'br', broken)

    await expect(Promise.all([read(body), read(body)])).rejects.toThrow('no more of it')
    await expect(read(body)).rejects.toThrow('no more of it')

    const again = bodies.large('map', 'a', 'br', () => pieces(10))
    expect(brotliDecompressSync(await read(again)).length).toBe(10)
  })
})

describe('a small body', () => {
  test('is compressed once for all clients, which read the same bytes', async () => {
    const plain = Buffer.from('a plain body '.repeat(100))
    const body = new SmallBody(plain)
    const [first, second] = [body.bytesIn('br'), body.bytesIn('br')]

    expect(second).toBe(first)
    expect(brotliDecompressSync(await first)).toEqual(plain)
    expect(gunzipSync(await body.bytesIn('gzip'))).toEqual(plain)
    expect(await body.bytesIn(undefined)).toBe(plain)
  })

  test('is not compressed below 1 KiB', () => {
    expect(new SmallBody(Buffer.alloc(1023)).encodingFor('br')).toBeUndefined()
    expect(new SmallBody(Buffer.alloc(1024)).encodingFor('br')).toBe('br')
    expect(new SmallBody(Buffer.alloc(1024)).encodingFor(undefined)).toBeUndefined()
  })

  test('is made once for each name, and again for another tag', () => {
    const bodies = new CompressedBodies()
    const make = () => Buffer.from('a body')
    const body = bodies.small('feed', 'a', make)

    expect(bodies.small('feed', 'a', nothing)).toBe(body)
    expect(bodies.small('other', 'a', make)).not.toBe(body)
    expect(bodies.small('feed', 'b', make)).not.toBe(body)
    expect(bodies.small('feed', 'a', make)).not.toBe(body)
  })
})

describe('the cached bodies', () => {
  test('are counted with all their encodings, and take no more bytes than the limit', async () => {
    const bodies = new CompressedBodies(10_000)
    const plain = noise(4_000, 1)
    const one = bodies.small('one', 'a', () => plain)
    expect(bodies.bytes).toBe(4_000)
    const compressed = await one.bytesIn('br')
    expect(bodies.bytes).toBe(4_000 + compressed.length)

    for (const name of ['two', 'three', 'four']) {
      await bodies.small(name, 'a', () => noise(4_000, 2)).bytesIn('gzip')
      expect(bodies.bytes).toBeLessThanOrEqual(10_000)
    }

    expect(bodies.small('four', 'a', nothing).bytes).toBeGreaterThan(8_000)
    expect(bodies.small('one', 'a', () => plain)).not.toBe(one)
  })

  test('do not include a body above the limit: it is made for each request', async () => {
    const bodies = new CompressedBodies(1_000)
    const cached = bodies.small('cached', 'a', () => Buffer.alloc(100))
    const make = () => [noise(4_000, 1)]
    const body = bodies.large('map', 'a', 'gzip', make)
    expect(bodies.large('map', 'a', 'gzip', nothing)).toBe(body)

    expect(gunzipSync(await read(body))).toEqual(noise(4_000, 1))

    expect(bodies.large('map', 'a', 'gzip', make)).not.toBe(body)
    expect(bodies.small('cached', 'a', nothing)).toBe(cached)
  })

  test('are not counted if another body has replaced them while they were made', async () => {
    const bodies = new CompressedBodies()
    const early = bodies.large('map', 'a', 'gzip', () => pieces(1_000_000))
    const late = bodies.large('map', 'b', 'gzip', () => pieces(10_000))
    const other = bodies.large('other', 'a', 'br', () => [])
    const compressed = await Promise.all([early, late, other].map(read))

    expect(compressed[0]!.length).toBeGreaterThan(0)
    expect(bodies.large('map', 'b', 'gzip', nothing)).toBe(late)
    expect(compressed[1]!.length).toBeLessThan(compressed[0]!.length)
    // The third body has no pieces: its bytes are those that every brotli stream has.
    expect(bodies.bytes).toBe(compressed[1]!.length + compressed[2]!.length)
  })
})

/** Text that compresses well, in pieces of 64 KiB. */
function pieces(bytes: number): Buffer[] {
  const all = Buffer.alloc(bytes)
  for (let at = 0; at < bytes; at += 100) all.write(`{"id":${at},"name":"a tile of the map"},`, at)
  return Array.from({ length: Math.ceil(bytes / 65_536) }, (_, i) =>
    all.subarray(i * 65_536, (i + 1) * 65_536),
  )
}

/** Bytes that do not compress, so that the encoder writes output early. */
function noise(bytes: number, seed: number): Buffer {
  let state = seed
  return Buffer.from(
    Uint8Array.from({ length: bytes }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    }),
  )
}

async function read(body: GrowingBody): Promise<Buffer> {
  const read: Uint8Array[] = []
  for await (const piece of body.read()) read.push(piece)
  return Buffer.concat(read)
}

function nothing(): never {
  throw new Error('the body is cached and must not be made again')
}

test.each([5_000, 50_000])(
  'a body of %d bytes whose compression failed is compressed by the next request',
  async (length) => {
    const forms = new CompressedForms()
    const noBytes = { length } as Buffer
    await expect(async () => forms.bytesIn('gzip', () => noBytes)).rejects.toThrow()
    expect([forms.made('gzip'), forms.bytes]).toEqual([undefined, 0])
    const plain = Buffer.alloc(length, 'x')
    expect(gunzipSync(await forms.bytesIn('gzip', () => plain))).toEqual(plain)
  },
)

test('a body that several clients request at the same time is compressed once', async () => {
  let plainBodies = 0
  let grown = 0
  const forms = new CompressedForms(() => grown++)
  const plain = () => {
    plainBodies++
    return Buffer.from('x'.repeat(50_000))
  }
  expect(forms.made('gzip')).toBeUndefined()
  const asked = [forms.bytesIn('gzip', plain), forms.bytesIn('gzip', plain)]
  expect(forms.made('gzip')).toBeUndefined()
  const [one, other] = await Promise.all(asked)
  expect(one).toBe(other)
  expect(forms.made('gzip')).toBe(one)
  expect(forms.bytesIn('gzip', plain)).toBe(one)
  expect({ plainBodies, grown, bytes: forms.bytes }).toEqual({ plainBodies: 1, grown: 1, bytes: one!.length })
})
