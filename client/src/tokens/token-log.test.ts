import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { concat, fromHex, keccak256, toHex } from './bytes.ts'
import { LogDay, type LogEntry, NO_LOG_ROOT, timestampCall } from './token-log.ts'
import { readLogAnswer, readTokenLog } from './token-log-file.ts'

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

describe('a saved log', () => {
  const signer = `0x${'2'.repeat(40)}`
  const entryOf = (position: number, noted_at = '2027-03-01T10:00:00.000Z') => ({
    ...{ position, signer, noted_at },
    uid: `0x${String(position).repeat(64)}`,
  })
  const entries = [entryOf(0), entryOf(1), entryOf(2, '2027-03-02T10:00:00.000Z')]
  const first = { day: '2027-03-01', leaves: 2, root: dayOf(NO_LOG_ROOT, entries.slice(0, 2)) }
  const second = { day: '2027-03-02', leaves: 3, root: dayOf(first.root, entries.slice(2)) }
  const pages = [
    { entries: entries.slice(1), roots: [first, second] },
    { ok: true, data: { entries: entries.slice(0, 2), roots: [first] } },
  ]
  const before = Date.parse('2027-03-02T00:00:00.000Z') / 1000

  test('has the entries from before the theft, by their times or by a root', () => {
    const log = readTokenLog(pages)
    const byRoot = readTokenLog(pages, { root: first.root.toUpperCase().replace('0X', '0x') })
    const answers = (checked = log) =>
      [0, 1, 2].map((at) => checked?.isLogged(entries[at]!.uid.toUpperCase(), { signer, before }))
    expect([answers(), answers(byRoot)]).toEqual([Array(2).fill([true, true, false])].flat())
    expect([log?.entries, byRoot?.entries]).toEqual([3, 2])
    expect(byRoot?.isLogged(entries[0]!.uid, { signer: `0x${'3'.repeat(40)}`, before })).toBe(false)
    // The times of a file prove nothing: with a root only the entries up to it count, without any time
    expect(byRoot?.isLogged(entries[0]!.uid, { signer, before: 0 })).toBe(true)
  })

  test('is not needed for one token, where the server is believed', () => {
    const answer = readLogAnswer({ entries: [entryOf(1)], roots: [], next: 2 })
    const ask = (at: number, before: number) => answer?.isLogged(entries[at]!.uid, { signer, before })
    expect([ask(1, before), ask(1, 0), ask(0, before)]).toEqual([true, false, false])
    expect(readLogAnswer({ entries: [{}], roots: [] })).toBeUndefined()
  })

  test('that was changed is refused, or lacks the root', () => {
    const [page] = pages
    for (const wrong of [
      [],
      [page],
      [{ entries: entries.slice(0, 2), roots: [second] }],
      [...pages, { entries: [{ ...entryOf(0), uid: entries[1]!.uid }], roots: [] }],
      [{ entries: [entries[1], { ...entryOf(1), position: 0 }], roots: [first] }],
      [{ entries: [{ ...entryOf(0), noted_at: 'yesterday' }], roots: [] }],
      [{ entries: [{ ...entryOf(0), noted_at: '2027-03-01' }], roots: [] }],
      [{ entries: 1 }],
      [null],
    ])
      expect(readTokenLog(wrong, { root: first.root }), JSON.stringify(wrong)).toBeUndefined()
    expect(readTokenLog(pages, { root: NO_LOG_ROOT })).toBeUndefined()
  })
})
