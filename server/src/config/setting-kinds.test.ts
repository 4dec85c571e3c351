import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseProviders, parseProxies } from './setting-grammars.ts'
import { addressWith, boolean, hexBytes, integer, oneOf, webAddress, word } from './setting-kinds.ts'

test('a whole number is accepted within its bounds', () => {
  const bounds = fc.tuple(fc.nat(1_000_000), fc.nat(1_000_000)).map(([a, b]) => ({
    min: Math.min(a, b),
    max: Math.max(a, b),
  }))

  fc.assert(
    fc.property(bounds, fc.integer({ min: -10, max: 2_000_000 }), ({ min, max }, value) => {
      const kind = integer({ min, max })
      expect(kind.parse(String(value))).toBe(value >= min && value <= max ? value : undefined)
      expect([kind.parse(String(min)), kind.parse(String(max))]).toEqual([min, max])
      expect(kind.allowed).toBe(`whole number, ${min} to ${max}`)
    }),
    { seed: 6 },
  )
  expect(integer({ min: 2, max: 100 }).allowed).toBe('whole number, 2 to 100')
  expect(integer({ min: 2, max: 100 }).parse('1')).toBe(undefined)
})

test('a word of a list is accepted, and no other word, such as a property of all objects', () => {
  expect(oneOf(['any', 'all']).allowed).toBe('any or all')
  expect(oneOf(['low', 'mid', 'high']).allowed).toBe('low, mid, high')
  expect(oneOf(['any', 'all']).parse('Any')).toBe(undefined)
  expect(['true', 'false', 'yes', '1', 'TRUE', 'constructor', '__proto__'].map(boolean.parse)).toEqual([
    true,
    false,
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('a web address loses the slashes at its end', () => {
  expect(webAddress.parse('https://land.example/api//')).toBe('https://land.example/api')
  expect(webAddress.parse('ftp://land.example')).toBe(undefined)
  expect(webAddress.parse('https:///path')).toBe(undefined)
  expect(word.parse('two words')).toBe(undefined)
})

test('an address with names in braces has all of them, in its path or query', () => {
  const [transaction, place] = [addressWith('tx'), addressWith('x', 'y')]

  for (const address of ['https://scan.example/tx/{tx}', 'http://127.0.0.1:4000/?tx={tx}&lang=en'])
    expect(transaction.parse(address)).toBe(address)
  expect(place.parse('https://game.example/?at={x},{y}')).toBe('https://game.example/?at={x},{y}')
  expect(place.parse('https://game.example/?at={x}')).toBe(undefined)
  for (const address of [
    'https://scan.example/tx/',
    'https://{tx}.example/',
    'https://user:key@scan.example/{tx}',
    'javascript:alert(`{tx}`)',
    'https://scan.example/ {tx}',
    'https://scan.example/{tx}"onload="x',
  ])
    expect(transaction.parse(address), address).toBe(undefined)
})

test('bytes are read from the right number of hex digits', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), fc.boolean(), (bytes, isUpper) => {
      const hex = Buffer.from(bytes).toString('hex')
      const kind = hexBytes({ count: bytes.length })
      expect(kind.parse(isUpper ? hex.toUpperCase() : hex)).toEqual(Buffer.from(bytes))
      expect([kind.parse(`${hex}0`), kind.parse(hex.slice(1)), kind.parse(`${hex.slice(1)}g`)]).toEqual([
        undefined,
        undefined,
        undefined,
      ])
    }),
    { seed: 6 },
  )
  expect(hexBytes({ count: 2 }).parse('00fF')).toEqual(Buffer.from([0, 255]))
  expect(hexBytes({ count: 32 }).allowed).toBe('64 hex digits')
})

test('presence providers and proxies are parsed as lists', () => {
  expect(parseProviders('peers=https://stats.example/peers')).toEqual([
    { style: 'peers', url: 'https://stats.example/peers' },
  ])
  expect(parseProxies('10.0.0.0/8, ::1')).toEqual(['10.0.0.0/8', '::1'])
  expect(parseProxies('10.0.0.0/8,')).toBe(undefined)
})
