import { mkdtempSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '@landpass/server/test/support/processes/load'
import { type Running, startServer } from '@landpass/server/test/support/processes/measured-processes'
import pg from 'pg'
import { type MadeNode, mainThreadMs, startMadeNode } from './chain-processes.ts'

export interface BlockOptions {
  readonly node: MadeNode
  /** The length of the history. */
  readonly logs: number
  /** Settings of a process that follows the node, whose world is at the end of its history. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Seconds between blocks: shorter than on mainnet, so that the script takes four minutes and not eight. Longer than the default
 * of CHAIN_POLL_MS: else polls would not follow the rhythm of the chain.
 */
const BLOCK_SECONDS = 6
/** After these blocks the server knows the rhythm of the chain, and its code is compiled. */
const FIRST_BLOCKS = 10
const BLOCKS = 30
const LOGS_OF_BLOCK = 10
const ASK_EVERY_MS = 20
/** The first parcel that {@link MadeNode.control} transfers. */
const PARCEL = '/parcels/-56/-44'
const VISIBLE_MS = 1_000
const MAIN_THREAD_MS = 10

/** A server, and the node that it follows. */
interface Followed {
  readonly server: Running
  readonly node: MadeNode
}

/**
 * How soon a block with ten logs is visible, and what it costs the main thread of the server.
 *
 * A second server has a copy of the database and a node that makes no blocks. It gets the same requests at the same moments:
 * few of them, until the block is seen. The cost of a block is the CPU time of the main thread of the first server, less that
 * of the second. So all that a server does because of a block is counted, also what it does seconds later (garbage
 * collections, indexes, more polls while the next block is due), and other load on the machine slows both alike. One after
 * the other, their CPU times differ by as much as a block costs. A client of `/v2/changes` listens to each.
 */
export async function measureNewBlocks({ node, logs, env }: BlockOptions): Promise<void> {
  await node.control({ final: 64 })
  const idleNode = await startMadeNode(logs, { keep: false })
  try {
    const idleEnv = {
      DATABASE_URL: await copyDatabase(env.DATABASE_URL!),
      DATA_DIR: mkdtempSync(`${env.DATA_DIR}-idle-`),
      CHAIN_RPC_URLS: idleNode.url,
    }
    await withServer(env, (server) =>
      withServer({ ...env, ...idleEnv }, (idle) =>
        measureBoth({ server, node }, { server: idle, node: idleNode }),
      ),
    )
  } finally {
    await idleNode.stop()
  }
}

async function measureBoth({ server, node }: Followed, idle: Followed): Promise<void> {
  // A full period before the next one: two blocks of one second would be no rhythm for the server, for 16 blocks.
  for (const one of [node, idle.node]) await one.control({ add: [{ transfers: 0, timeS: nowS() }] })
  await sleep(BLOCK_SECONDS * 1_000)
  const servers = [server, idle.server]
  await measurePeriods(servers, FIRST_BLOCKS, (untilMs) => askForBlock(servers, node, untilMs))
  printFigures(await measurePeriods(servers, BLOCKS, (untilMs) => askForBlock(servers, node, untilMs)))
}

/** The requests after a block, and when they showed it; undefined where they did not. */
interface Asked {
  readonly requests: number
  readonly visibleMs: number | undefined
}

interface Measured {
  readonly asked: readonly Asked[]
  /** CPU time of the main thread of each server in each period. */
  readonly eachMs: readonly (readonly number[])[]
  /** That of all periods, and of one more without requests: what the last block has left to do is counted with it. */
  readonly allMs: readonly number[]
}

/** Calls `ask` at the begin of each period, for as many periods, with the time at which the period ends. */
async function measurePeriods(
  servers: readonly Running[],
  periods: number,
  ask: (untilMs: number) => Promise<Asked>,
): Promise<Measured> {
  const timesMs = () => servers.map(({ child }) => mainThreadMs(child.pid))
  const asked: Asked[] = []
  const eachMs: number[][] = []
  let nextMs = performance.now()
  const beganMs = timesMs()
  let lastMs = beganMs
  for (let period = 0; period < periods; period++) {
    nextMs += BLOCK_SECONDS * 1_000
    asked.push(await ask(nextMs))
    await sleep(Math.max(0, nextMs - performance.now()))
    const nowMs = timesMs()
    eachMs.push(less(nowMs, lastMs))
    lastMs = nowMs
  }
  await sleep(BLOCK_SECONDS * 1_000)
  return { asked, eachMs, allMs: less(timesMs(), beganMs) }
}

function less(some: readonly number[], others: readonly number[]): number[] {
  return some.map((one, at) => one - others[at]!)
}

/** Makes a block, and asks all servers for a parcel that it transfers until the first of them has the new owner. */
async function askForBlock(servers: readonly Running[], node: MadeNode, untilMs: number): Promise<Asked> {
  const owner = await ownerAt(servers) // An earlier block may have come late.
  const addedMs = performance.now()
  await node.control({ add: [{ transfers: LOGS_OF_BLOCK, first: 0, timeS: nowS() }] })
  let requests = 0
  while (performance.now() < untilMs - ASK_EVERY_MS) {
    requests += 1
    if ((await ownerAt(servers)) !== owner) return { requests, visibleMs: performance.now() - addedMs }
    await sleep(ASK_EVERY_MS)
  }
  return { requests, visibleMs: undefined }
}

function printFigures({ asked, eachMs, allMs }: Measured): void {
  const visibleMs = asked.flatMap((one) => one.visibleMs ?? [])
  const requests = asked.reduce((sum, one) => sum + one.requests, 0) / asked.length
  const [withBlocksMs, idleMs] = allMs.map((ms) => ms / asked.length) as [number, number]
  const medianMs = median(eachMs.map(([ms, idle]) => ms! - idle!))
  console.log(
    `\na block with ${LOGS_OF_BLOCK} logs: visible after ${median(visibleMs).toFixed(0)} ms (median, at most ${VISIBLE_MS}), ` +
      `${visibleMs.length} of ${asked.length} seen within ${BLOCK_SECONDS} s; main thread ${(withBlocksMs - idleMs).toFixed(1)} ms ` +
      `(mean, at most ${MAIN_THREAD_MS}), median ${medianMs.toFixed(1)} ms`,
  )
  console.log(
    `main thread in ${BLOCK_SECONDS} s with ${(requests + 1).toFixed(0)} requests: ${withBlocksMs.toFixed(1)} ms with a block, ` +
      `${idleMs.toFixed(1)} ms of the server without blocks`,
  )
}

/** The owner that the first server answers; the others get the same request. */
async function ownerAt(servers: readonly Running[]): Promise<string | null> {
  const [owner] = await Promise.all(
    servers.map(async ({ origin }) => {
      const answer = (await (await fetch(`${origin}${PARCEL}`)).json()) as { data: { owner: string | null } }
      return answer.data.owner
    }),
  )
  return owner!
}

/** Starts a server with a client that reads the events of all changes. */
async function withServer(
  env: Readonly<Record<string, string>>,
  work: (server: Running) => Promise<void>,
): Promise<void> {
  const server = await startServer({ ...env })
  const closing = new AbortController()
  const listening = listen(server.origin, closing.signal)
  try {
    await work(server)
  } finally {
    closing.abort()
    await listening
    await server.stop()
  }
}

/** @returns the address of the copy. No client may be connected to the database. */
async function copyDatabase(databaseUrl: string): Promise<string> {
  const url = new URL(databaseUrl)
  const name = url.pathname.slice(1)
  url.pathname = '/template1'
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  const copy = `idle_${Date.now()}`
  try {
    await client.query(`create database ${copy} template ${name}`)
  } finally {
    await client.end()
  }
  url.pathname = `/${copy}`
  return url.href
}

/** Reads the events of all changes until the signal is aborted. */
async function listen(origin: string, signal: AbortSignal): Promise<void> {
  try {
    const answer = await fetch(`${origin}/v2/changes`, { signal })
    if (!answer.ok) throw new Error(`/v2/changes answered ${answer.status}`)
    for await (const _ of answer.body as AsyncIterable<Uint8Array>);
    throw new Error('the stream of changes has ended')
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function nowS(): number {
  return Math.floor(Date.now() / 1_000)
}
