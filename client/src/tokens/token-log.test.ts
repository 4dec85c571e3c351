import fc from 'fast-check'
import { expect, test } from 'vitest'
import { concat, fromHex, keccak256, toHex } from './bytes.ts'
import { LogDay, type LogEntry, NO_LOG_ROOT, timestampCall } from './token-log.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex)
const entries = fc.array(fc.record({ uid: bytes(32), signer: bytes(20) }), { maxLength: 20 })

/** As RFC 6962 defines it: the left half is the largest power of two below the number of leaves. */
function rootOf(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 1) return keccak256(concat(new Uint8Array([0]), leaves[0]!))
  let half = 1
  while (2 * half < leaves.length) half *= 2
  return keccak256(concat(new Uint8Array([1]), rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half))))
}

function dayOf(previous: string, added: readonly LogEntry[]): string {
  const day = new LogDay(previous)
  for (const entry of added) day.add(entry)
  return day.root()
}

test('the root of a day is that of RFC 6962 over the day before and its entries', () => {
  fc.assert(
    fc.property(bytes(32), entries, (previous, added) => {
      const leaves = added.map(({ uid, signer }) => concat(fromHex(signer), fromHex(uid)))
      expect(dayOf(previous, added)).toBe(toHex(rootOf([fromHex(previous), ...leaves])))
    }),
    { seed: 1, numRuns: 30 },
  )
})

test('another entry, order or day before gives another root', () => {
  const one = { uid: `0x${'1'.repeat(64)}`, signer: `0x${'2'.repeat(40)}` }
  const other = { ...one, uid: `0x${'3'.repeat(64)}` }
  const roots = [
    dayOf(NO_LOG_ROOT, []),
    dayOf(NO_LOG_ROOT, [one]),
    dayOf(NO_LOG_ROOT, [one, other]),
    dayOf(NO_LOG_ROOT, [other, one]),
    dayOf(dayOf(NO_LOG_ROOT, [one]), [other]),
  ]
  expect(new Set(roots).size).toBe(roots.length)
})

test('the call for the contract has the selector of timestamp(bytes32)', () => {
  expect(timestampCall(NO_LOG_ROOT)).toBe(`0x4d003070${'0'.repeat(64)}`)
})
