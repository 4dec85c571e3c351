import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RawLog } from './chain-types.ts'
import { PackedLogs, unpackedLogs } from './packed-logs.ts'

/** Logs of a chain: those of a block agree about its number and its time, those of a transaction about its place. */
const LOGS: fc.Arbitrary<readonly RawLog[]> = fc
  .array(
    fc.record({
      block: fc.integer({ min: 0, max: 3 }),
      transaction: fc.integer({ min: 0, max: 3 }),
      topics: fc.array(fc.constantFrom('0x01', '0x02'), { maxLength: 4 }),
      data: fc.constantFrom('0x', '0xabcd'),
      isTimed: fc.boolean(),
    }),
    { maxLength: 400 },
  )
  .map((steps) => {
    let [block, transaction, isTimed] = [0, 0, true]
    return steps.map((step, logIndex) => {
      block += step.block
      transaction += step.transaction
      if (step.block > 0) isTimed = step.isTimed
      return {
        address: '0xf8',
        topics: step.topics,
        data: step.data,
        blockNumber: block,
        blockHash: `0xb${block}`,
        txHash: `0xa${block}${transaction}`,
        txIndex: transaction,
        logIndex,
        blockTimeS: isTimed ? 12 * block : undefined,
      }
    })
  })

test('logs are the same after they were packed, joined and read from the JSON of all', () => {
  fc.assert(
    fc.property(LOGS, fc.nat(400), (logs, at) => {
      const packed = PackedLogs.from(logs)
      expect([...packed]).toEqual(logs)
      expect([packed.length, packed.newest]).toEqual([logs.length, logs.at(-1)])
      expect(packed.hasTimes).toBe(logs.every(({ blockTimeS }) => blockTimeS !== undefined))

      const joined = PackedLogs.joined([PackedLogs.from(logs.slice(0, at)), PackedLogs.from(logs.slice(at))])
      expect([...joined]).toEqual(logs)
      expect([joined.length, joined.newest, joined.hasTimes]).toEqual([
        packed.length,
        packed.newest,
        packed.hasTimes,
      ])
      expect(unpackedLogs([...joined.json()].join(''), undefined)).toEqual(logs)
    }),
    { seed: 15, numRuns: 100 },
  )
})
