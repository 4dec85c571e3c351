import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../load.ts'
import { type Running, startServer } from '../processes.ts'
import { type MadeNode, mainThreadMs } from './chain-processes.ts'

export interface BlockOptions {
  readonly node: MadeNode
  /** Settings of a process that follows the node, whose world is at the end of its history. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Seconds between blocks: shorter than on mainnet, so that the script takes six minutes and not twelve. Longer than the
 * default of CHAIN_POLL_MS: else polls would not follow the rhythm of the chain.
 */
const BLOCK_SECONDS = 6
/** After these blocks the server knows the rhythm of the chain, and its code is compiled. */
const FIRST_BLOCKS = 10
/** Enough that three or more full garbage collections are among them: the server makes one in 50 to 60 seconds. */
const BLOCKS = 30
const LOGS_OF_BLOCK = 10
const ASK_EVERY_MS = 20
/** The first parcel that {@link MadeNode.control} transfers. */
const PARCEL = '/parcels/-56/-44'
const VISIBLE_MS = 1_000
const MAIN_THREAD_MS = 10

/**
 * How soon a block with ten logs is visible, and what it costs the main thread of the server.
 *
 * The cost is the CPU time of the main thread in a time with blocks, less that in an equal time without: everything that the
 * server does because of a block is counted, also what it does seconds later (garbage collections, indexes). Both
 * times have the same requests at the same moments, and few of them: a difference of two large numbers would say nothing.
 * A client of `/v2/changes` listens in both.
 *
 * Polls that come more often while a block is due are counted, too: see {@link endRhythm}.
 */
export async function measureNewBlocks({ node, env }: BlockOptions): Promise<void> {
  await node.control({ final: 64 })
  const server = await startServer({ ...env })
  const closing = new AbortController()
  const listening = listen(server.origin, closing.signal)
  try {
    await node.control({ add: [{ transfers: 0, timeS: nowS() }] })
    await measurePeriods(server, FIRST_BLOCKS, (untilMs) => askForBlock(server.origin, node, untilMs))
    const blocks = await measurePeriods(server, BLOCKS, (untilMs) =>
      askForBlock(server.origin, node, untilMs),
    )
    await endRhythm(node)
    let at = 0
    const idle = await measurePeriods(server, BLOCKS, (untilMs) =>
      askAsOften(server.origin, blocks.asked[at++]!.requests, untilMs),
    )
    printFigures(blocks, idle)
  } finally {
    closing.abort()
    await listening
    await server.stop()
  }
}

/** The requests after a block, and when they showed it; undefined where they did not. */
interface Asked {
  readonly requests: number
  readonly visibleMs: number | undefined
}

interface Measured {
  readonly asked: readonly Asked[]
  /** CPU time of the main thread in each period. */
  readonly eachMs: readonly number[]
  /** That of all periods, and of one more without requests: what the last block has left to do is counted with it. */
  readonly allMs: number
}

/** Calls `ask` at the begin of each period, for as many periods, with the time at which the period ends. */
async function measurePeriods(
  { child }: Running,
  periods: number,
  ask: (untilMs: number) => Promise<Asked>,
): Promise<Measured> {
  const asked: Asked[] = []
  const eachMs: number[] = []
  let nextMs = performance.now()
  const beganMs = mainThreadMs(child.pid)
  let lastMs = beganMs
  for (let period = 0; period < periods; period++) {
    nextMs += BLOCK_SECONDS * 1_000
    asked.push(await ask(nextMs))
    await sleep(Math.max(0, nextMs - performance.now()))
    const nowMs = mainThreadMs(child.pid)
    eachMs.push(nowMs - lastMs)
    lastMs = nowMs
  }
  await sleep(BLOCK_SECONDS * 1_000)
  return { asked, eachMs, allMs: mainThreadMs(child.pid) - beganMs }
}

/** Makes a block, and asks for a parcel that it transfers until the new owner is seen. */
async function askForBlock(origin: string, node: MadeNode, untilMs: number): Promise<Asked> {
  const owner = await ownerAt(origin) // An earlier block may have come late.
  const addedMs = performance.now()
  await node.control({ add: [{ transfers: LOGS_OF_BLOCK, first: 0, timeS: nowS() }] })
  let requests = 0
  while (performance.now() < untilMs - ASK_EVERY_MS) {
    requests += 1
    if ((await ownerAt(origin)) !== owner) return { requests, visibleMs: performance.now() - addedMs }
    await sleep(ASK_EVERY_MS)
  }
  return { requests, visibleMs: undefined }
}

/** The requests of {@link askForBlock}, without a block. */
async function askAsOften(origin: string, requests: number, untilMs: number): Promise<Asked> {
  await ownerAt(origin)
  for (let request = 0; request < requests && performance.now() < untilMs - ASK_EVERY_MS; request++) {
    if (request > 0) await sleep(ASK_EVERY_MS)
    await ownerAt(origin)
  }
  return { requests, visibleMs: undefined }
}

/**
 * Two blocks of the same second: the server does not believe in a rhythm any more, and polls every CHAIN_POLL_MS. It would
 * wait for blocks that never come with more polls than any block needs, and they would be subtracted from what blocks cost.
 */
async function endRhythm(node: MadeNode): Promise<void> {
  const timeS = nowS()
  for (let block = 0; block < 2; block++) {
    await node.control({ add: [{ transfers: 0, timeS }] })
    await sleep(BLOCK_SECONDS * 1_000)
  }
}

function printFigures({ asked, eachMs, allMs }: Measured, idle: Measured): void {
  const visibleMs = asked.flatMap((one) => one.visibleMs ?? [])
  const requests = asked.reduce((sum, one) => sum + one.requests, 0) / asked.length
  const meanMs = (allMs - idle.allMs) / asked.length
  const medianMs = median(eachMs) - median(idle.eachMs)
  console.log(
    `\na block with ${LOGS_OF_BLOCK} logs: visible after ${median(visibleMs).toFixed(0)} ms (median, at most ${VISIBLE_MS}), ` +
      `${visibleMs.length} of ${asked.length} seen within ${BLOCK_SECONDS} s; main thread ${meanMs.toFixed(1)} ms ` +
      `(mean, at most ${MAIN_THREAD_MS}), median ${medianMs.toFixed(1)} ms`,
  )
  console.log(
    `main thread in ${BLOCK_SECONDS} s with ${(requests + 1).toFixed(0)} requests: ` +
      `${(allMs / asked.length).toFixed(1)} ms with a block, ${(idle.allMs / asked.length).toFixed(1)} ms without`,
  )
}

async function ownerAt(origin: string): Promise<string | null> {
  const answer = (await (await fetch(`${origin}${PARCEL}`)).json()) as { data: { owner: string | null } }
  return answer.data.owner
}

/** Reads the events of all changes until the signal is aborted. */
async function listen(origin: string, signal: AbortSignal): Promise<void> {
  try {
    const { body } = await fetch(`${origin}/v2/changes`, { signal })
    for await (const _ of body as AsyncIterable<Uint8Array>);
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function nowS(): number {
  return Math.floor(Date.now() / 1_000)
}
