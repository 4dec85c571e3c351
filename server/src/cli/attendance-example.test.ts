import { expect, test } from 'vitest'
import { ownTokenExample, poapExample } from './attendance-example.ts'

const STAND_INS = { issuer: 'http://127.0.0.1:1', presence: 'http://127.0.0.1:2' }

test('an example stands alone where a server makes no events for everybody', () => {
  const wordsOf = (isSecond: boolean) => poapExample('http://localhost', STAND_INS, { isSecond }).join('\n')
  expect(wordsOf(true)).toContain('The same with an event of the issuer POAP')
  expect(wordsOf(false)).not.toContain('The same')
  expect(wordsOf(false)).toContain('Try attendance tokens')
})

test('the first example makes an event and claims from it by its number', () => {
  const lines = ownTokenExample('http://localhost', STAND_INS, {
    eventNumber: 2_000_000_007,
    player: '0x1',
    nowMs: 0,
  })
  expect(lines.join('\n')).toContain('--event 2000000007')
  expect(lines.join('\n')).toContain('/addresses/0x1/tokens')
})
