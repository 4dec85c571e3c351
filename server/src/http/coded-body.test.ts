import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { CodedBody } from './coded-body.ts'

test('whoever asks for a coding shares its making, and reads the same bytes', async () => {
  const plain = Buffer.from('a plain body '.repeat(100))
  const body = new CodedBody(plain)
  const [first, second] = [body.in('br'), body.in('br')]

  expect(second).toBe(first)
  expect(brotliDecompressSync(await first)).toEqual(plain)
  expect(gunzipSync(await body.in('gzip'))).toEqual(plain)
  expect(await body.in(undefined)).toBe(plain)
})

test('a short body goes out as it is', () => {
  expect(new CodedBody(Buffer.alloc(1023)).codingFor('br')).toBeUndefined()
  expect(new CodedBody(Buffer.alloc(1024)).codingFor('br')).toBe('br')
  expect(new CodedBody(Buffer.alloc(1024)).codingFor(undefined)).toBeUndefined()
})
