import { expect, test } from 'vitest'
import { explorerOf } from './explorer.ts'

test('known networks have an explorer, others none, and the setting goes before both', () => {
  const own = 'https://scan.example/{tx}'

  expect(explorerOf(1, undefined)).toBe('https://etherscan.io/tx/{tx}')
  expect(explorerOf(11_155_111, undefined)).toBe('https://sepolia.etherscan.io/tx/{tx}')
  expect([explorerOf(1337, undefined), explorerOf(null, undefined)]).toEqual([null, null])
  expect([explorerOf(1, own), explorerOf(1337, own), explorerOf(null, own)]).toEqual([own, own, own])
})
