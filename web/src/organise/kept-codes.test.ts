import { afterEach, expect, test, vi } from 'vitest'
import { dropKeptCode, keepCode, keptCode } from './kept-codes.ts'

const uuidOf = (at: number) => `6b0b6c53-6f5b-4c0e-9b43-${String(at).padStart(12, '0')}`
const CODE = '0123456789abcdef'.repeat(2)

function useStorage(entries = new Map<string, string>()) {
  vi.stubGlobal('localStorage', {
    getItem: (name: string) => entries.get(name) ?? null,
    setItem: (name: string, value: string) => void entries.set(name, value),
    removeItem: (name: string) => void entries.delete(name),
  })
  return entries
}

afterEach(() => vi.unstubAllGlobals())

test('a code is kept for its event until it is dropped, and fifty at most', () => {
  const entries = useStorage()
  for (let at = 0; at < 60; at++) keepCode(uuidOf(at), CODE)

  expect([keptCode(uuidOf(59)), keptCode(uuidOf(10)), keptCode(uuidOf(9))]).toEqual([CODE, CODE, undefined])
  for (let at = 10; at < 60; at++) dropKeptCode(uuidOf(at))
  expect([...entries]).toEqual([])
})

test('what was stored by something else is no code', () => {
  for (const text of ['{', '{}', '[1]', `[["${uuidOf(1)}","012345"]]`, `[["no uuid","${CODE}"]]`]) {
    useStorage(new Map([['landpass.codes', text]]))
    expect(keptCode(uuidOf(1))).toBeUndefined()
  }
  const entries = useStorage()
  keepCode(uuidOf(1), '012345') // a code of the other issuer
  expect([...entries]).toEqual([])
})
