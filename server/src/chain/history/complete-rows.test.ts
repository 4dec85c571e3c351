import { expect, test } from 'vitest'
import { assertParcelCount, completeRows } from './complete-rows.ts'
import { DamagedRangeError } from './spool-frames.ts'
import { MissingLogsError, type TokenTrail } from './token-trail.ts'

const BLOCK = { number: 199, hash: '0x199', parentHash: '', timeS: 0 }

async function readWith(failures: readonly Error[]) {
  const left = [...failures]
  const done: string[] = []
  const result = await completeRows({
    stored: { firstBlock: 100, dropFrom: async (from) => void done.push(`drop from ${from}`) },
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

test('logs that a node left out are requested again, from the last block on that is known to be complete', async () => {
  const { result, done } = await readWith([
    new MissingLogsError('in block 180 …', 150),
    new MissingLogsError('in block 190 …', undefined),
  ])
  expect(result).toBe('rows')
  expect(done).toEqual([
    'make',
    'drop from 150',
    'logs are missing: in block 180 …. They are requested again from block 150 on.',
    'make',
    'drop from 100',
    'logs are missing: in block 190 …. They are requested again from block 100 on.',
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

test('logs that stay missing make no world, and are not stored', async () => {
  const missing = new MissingLogsError('in block 180 …', 150)
  const { result, done } = await readWith([missing, missing, missing])
  expect(result).toContain('The node left out logs: in block 180')
  expect(done.filter((each) => each === 'drop from 150')).toHaveLength(3)
})

test('the number of parcels is that of the registry, where that is known', () => {
  const trail = { parcels: 7 } as TokenTrail
  assertParcelCount(7, trail, BLOCK)
  assertParcelCount(undefined, trail, BLOCK)
  expect(() => assertParcelCount(8, trail, BLOCK)).toThrow(
    'the registry has 8 parcels at block 199, and by the stored logs 7 have an owner',
  )
})
