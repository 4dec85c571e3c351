import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { SharedBodies, type SharedBody } from './shared-bodies.ts'

const MIB = 1024 * 1024
const UNPACK = { br: brotliDecompressSync, gzip: gunzipSync }

describe('a body that is compressed for all readers', () => {
  test.each(['br', 'gzip'] as const)(
    'is what it was made of, for those who wait and those who come later: %s',
    async (coding) => {
      const plain = pieces(5 * MIB)
      const bodies = new SharedBodies()
      const body = bodies.find('map', coding, 'a', () => plain)
      expect(body.whole).toBeUndefined()

      const early = await Promise.all([read(body), read(body)])
      const late = await read(bodies.find('map', coding, 'a', nothing))

      const bytes = Buffer.concat(plain)
      for (const coded of [...early, late]) expect(UNPACK[coding](coded).equals(bytes)).toBe(true)
      expect(body.whole?.length).toBeLessThan(bytes.length / 2)
    },
  )

  test('is begun once, whoever asks meanwhile, and anew for another tag, name or coding', async () => {
    const bodies = new SharedBodies()
    let begun = 0
    const make = () => {
      begun += 1
      return pieces(MIB)
    }
    const body = bodies.find('map', 'gzip', 'a', make)
    expect(bodies.find('map', 'gzip', 'a', make)).toBe(body)
    const others = [
      bodies.find('map', 'br', 'a', make),
      bodies.find('other', 'gzip', 'a', make),
      bodies.find('map', 'gzip', 'b', make),
    ]
    expect(new Set([body, ...others]).size).toBe(4)

    await Promise.all([body, ...others].map(read))

    expect(begun).toBe(4)
    expect(bodies.find('map', 'gzip', 'b', nothing)).toBe(others[2])
    expect(bodies.find('map', 'gzip', 'a', nothing)).not.toBe(body)
  })

  test('is made when the one before it is done', async () => {
    const bodies = new SharedBodies()
    const order: string[] = []
    function* told(name: string): Generator<Uint8Array> {
      order.push(`${name} begins`)
      yield* pieces(MIB)
      order.push(`${name} ends`)
    }
    const names = ['a', 'b', 'c']

    await Promise.all(names.map((name) => read(bodies.find(name, 'br', '1', () => told(name)))))

    expect(order).toEqual(names.flatMap((name) => [`${name} begins`, `${name} ends`]))
  })

  test('begins to arrive before it is done', async () => {
    const plain = Array.from({ length: 40 }, (_, i) => noise(64 * 1024, i))
    const body = new SharedBodies().find('map', 'gzip', 'a', () => plain)

    const first = await body.read().next()
    expect([first.done, body.whole]).toEqual([false, undefined])

    expect(gunzipSync(await read(body)).equals(Buffer.concat(plain))).toBe(true)
  })

  test('that cannot be made tells its readers, and is tried again for the next', async () => {
    const bodies = new SharedBodies()
    function* broken(): Generator<Uint8Array> {
      yield noise(MIB, 1)
      throw new Error('no more of it')
    }
    const body = bodies.find('map', 'br', 'a', broken)

    await expect(Promise.all([read(body), read(body)])).rejects.toThrow('no more of it')
    await expect(read(body)).rejects.toThrow('no more of it')

    const again = bodies.find('map', 'br', 'a', () => pieces(10))
    expect(brotliDecompressSync(await read(again)).length).toBe(10)
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

/** Bytes that do not compress, so that what goes in soon comes out. */
function noise(bytes: number, seed: number): Buffer {
  let state = seed
  return Buffer.from(
    Uint8Array.from({ length: bytes }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    }),
  )
}

async function read(body: SharedBody): Promise<Buffer> {
  const read: Uint8Array[] = []
  for await (const piece of body.read()) read.push(piece)
  return Buffer.concat(read)
}

function nothing(): never {
  throw new Error('it is kept: nobody has to make it again')
}
