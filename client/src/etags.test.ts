import { expect, test } from 'vitest'
import { memoryEtagStore } from './etags.ts'

const answer = (body: string | Uint8Array, etag = '"1"') => ({ etag, body })

test('the newest answer of an address is cached', () => {
  const store = memoryEtagStore()

  store.set('/a', answer('old'))
  store.set('/a', answer('new', '"2"'))

  expect(store.get('/a')).toEqual(answer('new', '"2"'))
  expect(store.get('/b')).toBeUndefined()
})

test('the least recently used answer is dropped first', () => {
  const store = memoryEtagStore({ maxBytes: 300 })
  const bytes = new Uint8Array(100)

  store.set('/a', answer(bytes))
  store.set('/b', answer(bytes))
  store.get('/a')
  store.set('/c', answer(bytes))

  expect(['/a', '/b', '/c'].map((url) => store.get(url) !== undefined)).toEqual([true, false, true])
})

test('an answer that is too large is not cached, and removes the older one of its address', () => {
  const store = memoryEtagStore({ maxBytes: 300 })

  store.set('/a', answer('small'))
  store.set('/b', answer('small'))
  store.set('/a', answer(new Uint8Array(301)))

  expect(store.get('/a')).toBeUndefined()
  expect(store.get('/b')).toEqual(answer('small'))
})

test('replaced answers take no memory', async () => {
  const store = memoryEtagStore({ maxBytes: 1_000 })

  for (let i = 0; i < 1_000; i++) store.set('/a', answer(new Uint8Array(i % 500), `"${i}"`))
  store.set('/b', answer(new Uint8Array(400)))

  expect((await store.get('/a'))?.etag).toBe('"999"')
  expect(store.get('/b')).toBeDefined()
})
