import { setTimeout as sleep } from 'node:timers/promises'
import { type Chain, openChain } from '../../src/chain/chain.ts'
import { withDatabase } from '../../src/cli/open-database.ts'
import { SYSTEM_CLOCK } from '../../src/clock.ts'
import { readConfig } from '../../src/config/config.ts'
import { readLandHead } from '../../src/land/changes/land-head.ts'
import { median } from '../load.ts'
import { startServer } from '../processes.ts'
import { cpuSecondsOf, type MadeNode } from './chain-processes.ts'

export interface HeadOptions {
  readonly node: MadeNode
  /** Settings of a process that follows the node, whose world is at the end of its history. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Seconds between blocks: shorter than on mainnet, so that the script takes four minutes and not eight. Longer than the default
 * of CHAIN_POLL_MS: else polls would not follow the rhythm of the chain.
 */
const BLOCK_SECONDS = 6
const BLOCKS = 25
/** After these blocks the server knows the rhythm of the chain, and its code is compiled. */
const FIRST_BLOCKS = 10
const LOGS_OF_BLOCK = 10
const ASK_EVERY_MS = 20
/** The first parcel that {@link MadeNode.control} transfers. */
const PARCEL = '/parcels/-56/-44'

/** How soon a block with ten logs is visible, and what it costs the main thread of the server. */
export async function measureNewBlocks({ node, env }: HeadOptions): Promise<void> {
  await node.control({ final: 64 })
  const server = await startServer({ ...env })
  try {
    await addBlock(node, 0)
    const visibleMs: number[] = []
    let [busyMs, startedMs] = [0, 0]
    for (let block = 0; block < BLOCKS; block++) {
      if (block === FIRST_BLOCKS) {
        startedMs = performance.now()
        busyMs = mainThreadMs(server.child.pid)
      }
      const nextMs = performance.now() + BLOCK_SECONDS * 1_000
      const owner = await ownerAt(server.origin) // An earlier block may have come late.
      const addedMs = performance.now()
      await addBlock(node, LOGS_OF_BLOCK)
      let isSeen = false
      while (performance.now() < nextMs) {
        const now = await ownerAt(server.origin)
        if (!isSeen && now !== owner) {
          isSeen = true
          if (block >= FIRST_BLOCKS) visibleMs.push(performance.now() - addedMs)
        }
        await sleep(ASK_EVERY_MS)
      }
    }
    const seconds = (performance.now() - startedMs) / 1_000
    const withBlocksMs = mainThreadMs(server.child.pid) - busyMs
    const idleMs = await idleMainThreadMs(server.origin, server.child.pid, seconds)
    const eachMs = (withBlocksMs - idleMs) / (BLOCKS - FIRST_BLOCKS)
    console.log(
      `\na block with ${LOGS_OF_BLOCK} logs: visible after ${median(visibleMs).toFixed(0)} ms (median, at most 1,000), ` +
        `${visibleMs.length} of ${BLOCKS - FIRST_BLOCKS} seen within ${BLOCK_SECONDS} s; main thread ${eachMs.toFixed(1)} ms (at most 10)`,
    )
  } finally {
    await server.stop()
  }
}

function addBlock(node: MadeNode, transfers: number) {
  return node.control({ add: [{ transfers, first: 0, timeS: Math.floor(Date.now() / 1_000) }] })
}

async function ownerAt(origin: string): Promise<string | null> {
  const answer = (await (await fetch(`${origin}${PARCEL}`)).json()) as { data: { owner: string | null } }
  return answer.data.owner
}

/** The same requests without blocks, for the same time. */
async function idleMainThreadMs(origin: string, pid: number | undefined, seconds: number): Promise<number> {
  const before = mainThreadMs(pid)
  const endMs = performance.now() + seconds * 1_000
  while (performance.now() < endMs) {
    await ownerAt(origin)
    await sleep(ASK_EVERY_MS)
  }
  return mainThreadMs(pid) - before
}

function mainThreadMs(pid: number | undefined): number {
  return (cpuSecondsOf(pid, { mainThread: true }) ?? Number.NaN) * 1_000
}

const UNDONE_BLOCKS = 64
const TOUCHED_ROWS = 200

/** An undo of 64 blocks, and blocks without logs. */
export async function measureSteps({ node, env }: HeadOptions, emptyBlocks: number): Promise<void> {
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
