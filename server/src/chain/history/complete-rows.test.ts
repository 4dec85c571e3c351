import { expect, test } from 'vitest'
import { assertParcelCount, completeRows } from './complete-rows.ts'
import { DamagedRangeError } from './spool-frames.ts'
import { MissingLogsError, type TokenTrail } from './token-trail.ts'

const BLOCK = { number: 199, hash: '0x199', parentHash: '', timeS: 0 }

async function readWith(failures: readonly Error[], hasFound = true) {
  const left = [...failures]
  const done: string[] = []
  const result = await completeRows({
    stored: {
      firstBlock: 100,
      readAgain: async ({ first, last }) => {
        done.push(`read ${first} to ${last}`)
        return hasFound
      },
      dropFrom: async (from) => void done.push(`drop from ${from}`),
    },
    makeRows: async () => {
      done.push('make')
      const failure = left.shift()
      if (failure) throw failure
      return 'rows'
    },
    onMissingLogs: (reason) => void done.push(reason),
  }).catch((error: Error) => error.message)
  return { result, done }
}

test('logs that a node left out are requested again, in the blocks in which they must be', async () => {
  const { result, done } = await readWith([
    new MissingLogsError('in block 180 …', { block: 180, knownUntil: 150 }),
    new MissingLogsError('in block 190 …', { block: 190, knownUntil: undefined }),
  ])
  expect(result).toBe('rows')
  expect(done).toEqual([
    'make',
    'read 150 to 180',
    expect.stringContaining('in block 180 …. They were found in blocks 150 to 180'),
    'make',
    'read 100 to 190',
    expect.stringContaining('in block 190 …. They were found in blocks 100 to 190'),
    'make',
  ])
})

test('stored logs that cannot be read are requested again', async () => {
  const { result, done } = await readWith([new DamagedRangeError([150, 159, '0x', 3])])
  expect([result, done.slice(1, 3)]).toEqual([
    'rows',
    [
      'drop from 150',
      'the stored logs of the blocks 150 to 159 are damaged. They are requested again from block 150 on.',
    ],
  ])
})

test('logs that stay missing make no world, and the rest of the history is not requested again', async () => {
  const missing = new MissingLogsError('in block 180 …', { block: 180, knownUntil: 150 })
  const { result, done } = await readWith([missing], false)
  expect(result).toContain('The node left out logs: in block 180')
  expect(done).toEqual(['make', 'read 150 to 180'])
  const always = await readWith([missing, missing, missing])
  expect(always.result).toBe(result)
  expect(always.done.filter((each) => each.startsWith('read'))).toHaveLength(3)
})

test('the number of parcels is that of the registry, where that is known', () => {
  const trail = { parcels: 7 } as TokenTrail
  assertParcelCount(7, trail, BLOCK)
  assertParcelCount(undefined, trail, BLOCK)
  expect(() => assertParcelCount(8, trail, BLOCK)).toThrow(
    'the registry has 8 parcels at block 199, and by the stored logs 7 have an owner',
  )
})
