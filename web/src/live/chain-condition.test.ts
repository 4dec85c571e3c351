import { expect, test } from 'vitest'
import { type ChainStatus, chainCondition } from './chain-condition.ts'

const hash = `0x${'a'.repeat(64)}`
const CURRENT: ChainStatus = {
  network: 'mainnet',
  chainId: 1,
  block: { number: 100, hash, time: '2026-11-20T00:00:00.000Z', ageSeconds: 12 },
  finalized: { number: 36, hash },
  node: { head: 100, lagBlocks: 0, lagSeconds: 0 },
  listings: { state: 'off', read_at: null, offers: 0, open: 0, shown: false, reason: null },
  rentals: { state: 'off', read_at: null, offers: 0, open: 0, shown: false, reason: null },
  completeness: { state: 'checked', block: 90, done: null, total: null, differing: 0, assets: [] },
  state: 'following',
  reason: null,
  explorer: null,
}
const aged = (ageSeconds: number) => ({ ...CURRENT.block!, ageSeconds })

test.each<[string, Partial<ChainStatus>, ReturnType<typeof chainCondition>]>([
  ['the newest block', {}, 'current'],
  ['a few blocks behind', { node: { head: 109, lagBlocks: 9, lagSeconds: 108 } }, 'current'],
  ['one slow block behind', { node: { head: 101, lagBlocks: 1, lagSeconds: 600 } }, 'current'],
  ['many blocks behind', { node: { head: 111, lagBlocks: 11, lagSeconds: 132 } }, 'catching_up'],
  ['a node that has not answered yet', { node: null }, 'current'],
  ['no answer of a node', { node: null, reason: 'No node answers.' }, 'no_node'],
  ['answers that cannot be used', { reason: 'The logs contradict the block.' }, 'failing'],
  [
    'the same, while blocks are missing',
    { reason: 'The logs contradict the block.', node: { head: 111, lagBlocks: 11, lagSeconds: 132 } },
    'failing',
  ],
  ['a final block of 20 minutes ago', { block: aged(1_200) }, 'current'],
  ['no block for an hour', { block: aged(3_600) }, 'silent'],
  ['no block for an hour of a chain of one’s own', { block: aged(3_600), chainId: 1337 }, 'current'],
  ['the history', { state: 'history', block: null, node: null }, 'history'],
  ['land that differs', { state: 'differs', reason: 'parcel 1,2 differs.' }, 'differs'],
  ['broken finality', { state: 'stopped', reason: 'Block 90 changed.' }, 'stopped'],
  ['an import beside it', { state: 'stopped', block: null, node: null }, 'stopped'],
  ['no process', { state: 'off', node: null }, 'off'],
  ['a land that is not of the chain', { state: 'off', block: null, node: null }, undefined],
])('%s', (_, changes, expected) => {
  expect(chainCondition({ ...CURRENT, ...changes })).toBe(expected)
})
