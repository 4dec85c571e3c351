import { afterAll, beforeAll, expect, test } from 'vitest'
import { SimulatedClock } from '../../bench/faults/chain/follower-process.ts'
import { NodeServer } from '../../bench/faults/chain/node-server.ts'
import { kindOf, TEST_SEEDS } from '../../bench/faults/chain/seeds.ts'
import { Simulation } from '../../bench/faults/chain/simulation.ts'
import { describeOnBothEngines, emptyDir } from '../support/engines.ts'
import { REFERENCE_TIME_MS } from '../support/land-server.ts'

/** The short form of `npm run faults -- chain`: docs/reliability.md. */
let server: NodeServer

beforeAll(async () => {
  server = await NodeServer.start()
})
afterAll(() => server.close())

describeOnBothEngines('followers of a simulated chain', (open, kind) => {
  test('show one block of it at any time, whatever chain, nodes and processes do', async () => {
    const { db } = await open()
    const readers = kind === 'postgres' ? (await open()).db : undefined
    const database = { kind, db, readers, clock: new SimulatedClock(REFERENCE_TIME_MS) }
    const found: string[] = []
    for (const { seed, blocks } of TEST_SEEDS) {
      const { followers, engine } = kindOf(seed)
      if (engine !== kind) continue
      const options = { seed, blocks, followers, database, server, folder: emptyDir() }
      const { problems, counts } = await Simulation.run(options)
      expect(counts.get('reads')).toBeGreaterThan(0)
      found.push(...problems.map((problem) => `seed ${seed}: ${problem}`))
    }

    expect(found).toEqual([])
  })
})
