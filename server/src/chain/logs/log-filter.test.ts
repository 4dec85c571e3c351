import { expect, test } from 'vitest'
import { MAINNET, SEPOLIA } from '../networks/known-networks.ts'
import { filterAddresses, firstBlock } from './log-filter.ts'
import { LogTally } from './log-tally.ts'

const PLACE = { address: '0x0f', blockNumber: 7 }

test('one filter names every contract that says something about the land, and no token of money', () => {
  const addresses = filterAddresses(MAINNET)

  expect(addresses).toHaveLength(12)
  expect(addresses).toContain(MAINNET.contracts.LANDRegistry.address)
  expect(addresses).not.toContain(MAINNET.contracts.MANAToken?.address)
  // NewMortgage repeats what the manager logs.
  expect(addresses).not.toContain(MAINNET.contracts.MortgageHelper?.address)
  expect(filterAddresses(SEPOLIA)).toHaveLength(8)
})

test('the first block is that of the land', () => {
  expect(firstBlock(MAINNET)).toBe(4_944_642)
  expect(firstBlock({ ...MAINNET, contracts: { LANDRegistry: { address: '0x', startBlock: 7 } } })).toBe(7)
})

test('logs that changed nothing are counted by contract, topic and reason', () => {
  const tally = new LogTally(() => undefined)
  const ignored = { outcome: 'ignored', role: 'LANDRegistry', topic0: '0x01' } as const
  const unreadable = { outcome: 'unreadable', role: 'LANDRegistry', topic0: '0x01', reason: 'short' } as const

  for (const log of [ignored, unreadable, ignored]) tally.add(log, PLACE)

  expect(tally.entries()).toEqual([
    { ...ignored, count: 2 },
    { outcome: 'unreadable', role: 'LANDRegistry', topic0: '0x01', count: 1 },
  ])
})

test('what a log of an unknown event, code or form changed is not known: the first one of each is a line', () => {
  const lines: string[] = []
  const tally = new LogTally((line) => lines.push(line))
  const role = 'LANDRegistry'
  const upgrade = { outcome: 'upgraded', role, topic0: '0x02' } as const
  const others = [
    { outcome: 'ignored', role, topic0: '0x01' },
    { outcome: 'unknown', role, topic0: '0x01' },
    { outcome: 'unknown', role, topic0: undefined },
    { ...upgrade, code: '0xaa' },
    { ...upgrade, code: '0xbb' },
    { outcome: 'unreadable', role, topic0: '0x03', reason: 'it has 3 topics, not 4' },
  ] as const

  for (const [at, other] of [...others, ...others].entries())
    tally.add(other, { ...PLACE, blockNumber: 100 + at })

  expect(lines.map((line) => line.slice(0, line.indexOf('. ')))).toEqual([
    'warning: LANDRegistry (0x0f) has logs of an event that this version does not know (first topic 0x01), seen first in block 101',
    'warning: LANDRegistry (0x0f) has logs of an event that this version does not know (first topic none), seen first in block 102',
    'warning: LANDRegistry (0x0f) has code that this version does not know (at 0xaa), seen first in block 103',
    'warning: LANDRegistry (0x0f) has code that this version does not know (at 0xbb), seen first in block 104',
    'warning: LANDRegistry (0x0f) has logs that this version cannot read (first topic 0x03: it has 3 topics, not 4), seen first in block 105',
  ])
})

test('a tally has a limit: kinds beyond it are counted together, and none is lost', () => {
  const lines: string[] = []
  const tally = new LogTally((line) => lines.push(line))

  for (let kind = 0; kind < 10_000; kind++)
    tally.add({ outcome: 'unknown', role: 'Marketplace', topic0: `0x${kind}` }, PLACE)

  const entries = tally.entries()
  expect(entries.length).toBeLessThan(600)
  expect(entries.reduce((sum, { count }) => sum + count, 0)).toBe(10_000)
  expect(entries.at(-1)).toEqual({ outcome: 'unknown', role: 'Marketplace', topic0: undefined, count: 9_500 })
  expect(lines).toHaveLength(500)
})
