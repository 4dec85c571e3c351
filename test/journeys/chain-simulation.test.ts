import { parseNetwork } from '@landpass/server/chain/networks/parse-network'
import { readConfig } from '@landpass/server/config/config'
import { describeOnBothEngines, emptyDir } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS } from '@landpass/server/test/support/http/land-server'
import { SimulatedChain } from '@landpass/simulators/chain/blocks/chain'
import { networkFile } from '@landpass/simulators/chain/contracts/contracts'
import { ContractReads } from '@landpass/simulators/chain/node/contract-reads'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkImages, checkTraces } from '../../faults/chain/check-traces.ts'
import { CleanChain } from '../../faults/chain/clean-chain.ts'
import { SimulatedClock } from '../../faults/chain/follower-process.ts'
import { NodeServer } from '../../faults/chain/node-server.ts'
import { kindOf, TEST_SEEDS } from '../../faults/chain/seeds.ts'
import { Simulation } from '../../faults/chain/simulation.ts'
import { differences, type StoredLand } from '../../faults/chain/stored-land.ts'

/** The short form of `npm run faults -- chain`: faults/README.md. */
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

test('the simulation finds rows of another block, wrong images, and what remains of an undone block', async () => {
  const { world } = readConfig({ WORLD: '-1,-1,1,1' })
  const options = { chainId: 1337, seed: 5, historyBlocks: 0, headTimeS: 1_770_000_000 }
  const chain = new SimulatedChain({ ...options, world, transactionsPerBlock: 4 })
  const parsed = parseNetwork(
    'test',
    networkFile(1337, { eras: chain.machine.eras, contracts: chain.contracts, first: 1 }),
  )
  if ('mistakes' in parsed) throw new Error(parsed.mistakes[0])
  const reads = new ContractReads(chain.contracts)
  const clean = new CleanChain({ chain, reads, network: parsed.network, world, firstBlock: 1 })
  for (let block = 0; block < 20; block++) chain.mine()
  await clean.update()
  const undone = chain.head
  chain.reorganise({ depth: 3, length: 4, keep: 0.5 })
  await clean.update()
  while (clean.rowsAt(chain.head.hash) === clean.rowsAt(chain.head.parentHash)) {
    chain.mine()
    await clean.update()
  }

  const { number, hash, parentHash } = chain.head
  const [rows, before] = [clean.rowsAt(hash), clean.rowsAt(parentHash)]
  const blocks = [number - 1, number].map((at) => {
    const block = chain.block(at)!
    return { number: at, hash: block.hash, digest: clean.blocks.get(block.hash)!.digest }
  })
  const changed = [...new Set([...rows.keys(), ...before.keys()])].filter(
    (name) => rows.get(name) !== before.get(name),
  )
  const images = changed.map((name) => ({ blockNumber: number, name, before: before.get(name) ?? null }))
  const land: StoredLand = {
    ...{ revision: 1, number, hash, finalizedHash: parentHash, blocks, rows, images },
    texts: [...rows.values()],
  }

  expect(changed.length).toBeGreaterThan(0)
  expect(differences(rows, await clean.rowsOf(blocks))).toEqual([])
  expect(checkImages(land, clean)).toEqual([])
  expect(differences(before, rows)).toHaveLength(changed.length)
  expect(checkImages({ ...land, images: images.slice(1) }, clean)).toHaveLength(1)
  expect(
    checkImages({ ...land, images: images.map((one) => ({ ...one, before: 'other' })) }, clean),
  ).toHaveLength(changed.length)
  const final = { ...land, blocks: blocks.slice(1), images: [] }
  expect(checkTraces(final, clean, chain)).toEqual([])
  expect(checkTraces({ ...final, texts: [undone.hash] }, clean, chain)).toHaveLength(1)
  expect(checkTraces(land, clean, chain)).toHaveLength(2)
  await expect(clean.rowsOf([{ ...blocks[0]!, digest: 'other' }, blocks[1]!])).rejects.toThrow('lacks logs')
})
