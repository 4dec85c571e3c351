import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { BlockHeader } from '../chain-types.ts'
import { ContractAnswers } from './contract-answers.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'answers-'))
})
afterEach(() => rm(folder, { recursive: true }))

const IN_2018_S = Date.UTC(2018, 0, 1) / 1_000
const IN_2026_S = Date.UTC(2026, 0, 1) / 1_000
const CALL = { to: '0x0a', data: '0x0b' }

function blockAt(number: number, timeS: number, branch = 'a'): BlockHeader {
  return { number, hash: `${branch}${number}`, parentHash: '', timeS }
}

/** Reads the same call after each of these blocks, each time with the file alone. @returns the blocks that were asked */
async function readAfter(blocks: readonly BlockHeader[], { branch = 'a' } = {}) {
  const asked: string[] = []
  for (const block of blocks) {
    const answers = new ContractAnswers(join(folder, 'a.answers'), {
      source: {
        heads: () => Promise.reject(new Error('not needed')),
        logsOfRange: () => Promise.reject(new Error('not needed')),
        headerByNumber: async (number) => blockAt(number, 0, branch),
      },
      readContract: async (_, hash) => {
        asked.push(hash)
        return '0x07'
      },
    })
    await answers.moveTo(block)
    expect(await answers.read(CALL)).toMatchObject({ returned: '0x07', unsettled: [] })
    await answers.close()
  }
  return asked
}

test('a history that is made again asks contracts nothing that they have answered', async () => {
  expect(await readAfter([blockAt(1, IN_2026_S), blockAt(1, IN_2026_S), blockAt(9, IN_2026_S)])).toEqual([
    'a1',
  ])
})

test('answers are asked again where a later log may have changed them, and on another branch', async () => {
  expect(await readAfter([blockAt(1, IN_2018_S), blockAt(2, IN_2018_S)])).toEqual(['a1', 'a2'])
  expect(await readAfter([blockAt(5, IN_2026_S)])).toEqual(['a5'])
  expect(await readAfter([blockAt(7, IN_2026_S, 'b')], { branch: 'b' })).toEqual(['b7'])
})

test('while the history is read, the end moves on', async () => {
  const answers = new ContractAnswers(join(folder, 'a.answers'), {
    source: {
      heads: () => Promise.reject(new Error('not needed')),
      logsOfRange: () => Promise.reject(new Error('not needed')),
      headerByNumber: async (number) => blockAt(number, 0),
    },
    readContract: async (_, hash) => `0x${hash}`,
  })
  await answers.moveTo(blockAt(1, IN_2026_S))
  expect((await answers.read(CALL)).returned).toBe('0xa1')
  await answers.moveTo(blockAt(2, IN_2026_S))
  expect((await answers.read(CALL)).returned).toBe('0xa1')
  expect((await answers.read({ to: '0x0c', data: '0x' })).returned).toBe('0xa2')
  await answers.close()
})
