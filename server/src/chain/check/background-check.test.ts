import { expect, test } from 'vitest'
import { BackgroundCheck } from './background-check.ts'
import type { CheckResult } from './check-land.ts'

const RIGHT: CheckResult = {
  block: { number: 9, hash: '0x09' },
  assets: 5,
  calls: 40,
  differences: [],
  notCompared: {},
}
const owner = { asset: 'parcel 1,2', field: 'owner', table: '0x01', contract: '0x02' }
const WRONG: CheckResult = { ...RIGHT, differences: Array.from({ length: 22 }, () => owner) }

/** Runs as many checks as there are results, with fixed time. */
async function runChecks(results: readonly (CheckResult | Error | 'another process')[], sample = 5) {
  const ending = new AbortController()
  const lines: string[] = []
  const pauses: number[] = []
  const left = [...results]
  let next: (typeof results)[number] | undefined
  const background = new BackgroundCheck({
    sample,
    intervalMs: 60_000,
    check: async () => {
      if (next instanceof Error) throw next
      return next as CheckResult
    },
    isLeading: () => next !== 'another process',
    nowMs: () => 7_000,
    pause: async (ms) => {
      pauses.push(ms)
      next = left.shift()
      if (next === undefined) ending.abort()
    },
    log: (line) => lines.push(line),
  })
  await background.run(ending.signal)
  return { counts: background.counts, lines, pauses }
}

test('counts what it compared, and names differences in one line of the log', async () => {
  const { counts, lines, pauses } = await runChecks([RIGHT, WRONG])

  expect(pauses).toEqual([60_000, 60_000, 60_000])
  expect(counts).toEqual({ assets: 10, differences: new Map([['owner', 22]]), failures: 0, lastAtMs: 7_000 })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(
    /^warning: .* at block 9 \(--sample 5 --seed \d+\): parcel 1,2: owner is "0x01" in the tables, "0x02" in the contract; .*; and 2 more$/,
  )
})

test('a check that fails is counted and said, and the next one runs', async () => {
  const { counts, lines } = await runChecks([new Error('no node'), RIGHT])

  expect([counts.failures, counts.assets]).toEqual([1, 5])
  expect(lines).toEqual(['the land could not be compared with the contracts: no node'])
})

test('only the process that follows checks, and none without a sample', async () => {
  expect((await runChecks(['another process', RIGHT])).counts.assets).toBe(5)
  expect((await runChecks([RIGHT], 0)).pauses).toEqual([])
})
