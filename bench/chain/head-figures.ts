import { type Chain, openChain } from '@landpass/server/chain/chain'
import { withDatabase } from '@landpass/server/cli/open-database'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { readConfig } from '@landpass/server/config/config'
import { readLandHead } from '@landpass/server/land/changes/land-head'
import { median } from '@landpass/server/test/support/processes/load'
import type { BlockOptions } from './block-figures.ts'
import type { MadeNode } from './chain-processes.ts'

function addBlock(node: MadeNode, transfers: number) {
  return node.control({ add: [{ transfers, first: 0, timeS: Math.floor(Date.now() / 1_000) }] })
}

const UNDONE_BLOCKS = 64
const TOUCHED_ROWS = 200

/** An undo of 64 blocks, and blocks without logs. */
export async function measureSteps(
  { node, env }: Pick<BlockOptions, 'node' | 'env'>,
  emptyBlocks: number,
): Promise<void> {
  const config = readConfig(env)
  const stopping = new AbortController()
  const { signal } = stopping
  await withDatabase(config, async ({ db }) => {
    const chain = await openChain({ config, db, clock: SYSTEM_CLOCK, signal, log: console.log })
    await node.control({ final: 2 * UNDONE_BLOCKS })
    await measureUndo(node, chain, signal)
    const { revision } = await readLandHead(db)
    const empty = await measureEmptyBlocks(node, chain, emptyBlocks)
    const revisions = (await readLandHead(db)).revision - revision
    console.log(
      `${emptyBlocks} empty blocks: ${revisions} revisions (at most 0), ${empty.cpuMs.toFixed(2)} ms of CPU time and ` +
        `${empty.ms.toFixed(2)} ms each, with the making of the block`,
    )
    await chain.close()
    stopping.abort()
  })
}

async function measureEmptyBlocks(node: MadeNode, chain: Chain, blocks: number) {
  const startedMs = performance.now()
  const startedCpu = process.cpuUsage()
  for (let block = 0; block < blocks; block++) {
    await addBlock(node, 0)
    await chain.follower.step()
  }
  const { user, system } = process.cpuUsage(startedCpu)
  return { cpuMs: (user + system) / 1_000 / blocks, ms: (performance.now() - startedMs) / blocks }
}

async function measureUndo(node: MadeNode, chain: Chain, signal: AbortSignal): Promise<void> {
  const tookMs: number[] = []
  for (let round = 0; round < 3; round++) {
    const timeS = Math.floor(Date.now() / 1_000)
    const each = Math.ceil(TOUCHED_ROWS / UNDONE_BLOCKS)
    const add = Array.from({ length: UNDONE_BLOCKS }, (_, at) => ({
      transfers: Math.min(each, Math.max(0, TOUCHED_ROWS - at * each)),
      first: at * each,
      timeS,
    }))
    const { number: until } = await node.control({ add })
    await chain.follow({ until, signal, endsAt: ['stopped', 'no position'] })
    await node.control({
      drop: UNDONE_BLOCKS,
      add: Array.from({ length: UNDONE_BLOCKS + 1 }, () => ({ transfers: 0, timeS })),
    })
    const startedMs = performance.now()
    await chain.follower.step()
    tookMs.push(performance.now() - startedMs)
  }
  console.log(
    `\nan undo of ${UNDONE_BLOCKS} blocks with ${TOUCHED_ROWS} rows: ${median(tookMs).toFixed(0)} ms ` +
      '(median of 3, at most 500), with all calls to the node',
  )
}
