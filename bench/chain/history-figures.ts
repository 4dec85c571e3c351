import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type LoadResult, load, type Request } from '@landpass/server/test/support/processes/load'
import { startServer } from '@landpass/server/test/support/processes/measured-processes'
import {
  type Baseline,
  type FollowFigures,
  type MadeNode,
  runBaseline,
  runFollow,
} from './chain-processes.ts'
import { BLOCKS_OF_GROUP, FIRST_BLOCK, groupsOf } from './made-logs.ts'

export interface HistoryOptions {
  readonly node: MadeNode
  readonly logs: number
  readonly scratch: string
  /** Settings of the database, the node and the network. */
  readonly env: Readonly<Record<string, string>>
}

const WANTED_RATIO = 0.25
const WANTED_PER_SECOND = 10_000
const WANTED_MB = 300
const WANTED_P99_RATIO = 3

/** The history from the node and from the stored logs, compared with requesting and parsing the same answers. */
export async function measureHistory({ node, logs, scratch, env }: HistoryOptions): Promise<void> {
  const last = FIRST_BLOCK + groupsOf(logs) * BLOCKS_OF_GROUP - 1
  await runBaseline(node.url, last) // The node renders its answers.
  const before = await runBaseline(node.url, last)
  const dataDir = { DATA_DIR: mkdtempSync(join(scratch, 'chain-')) }
  const history = await runFollow(['--until', 'finalized'], { ...env, ...dataDir })
  const again = await runFollow(['--rebuild'], { ...env, ...dataDir })
  const after = await runBaseline(node.url, last)
  const baseline = before.seconds < after.seconds ? before : after

  console.log(`\nbaseline, ${baseline.logs} logs requested and parsed: ${rate(baseline)}`)
  console.log('\n| history | logs/s | of the baseline | by CPU time | seconds | peak MB | phases |')
  console.log('|---|---:|---:|---:|---:|---:|---|')
  for (const [name, figures] of [
    ['from the node', history],
    ['from the stored logs', again],
  ] as const)
    console.log(`| ${name} | ${rowOf(figures, baseline)} |`)
  console.log(`wanted: ${WANTED_RATIO} of the baseline, ${WANTED_PER_SECOND} logs/s, below ${WANTED_MB} MB`)
}

function rate({ logs, seconds, cpuSeconds }: Baseline): string {
  return `${Math.round(logs / seconds)} logs/s, ${Math.round(logs / cpuSeconds)} by CPU time`
}

function rowOf({ seconds, cpuSeconds, peakMb, phases }: FollowFigures, baseline: Baseline): string {
  const perSecond = baseline.logs / seconds
  const ratio = baseline.seconds / seconds
  const isMissed = ratio < WANTED_RATIO || perSecond < WANTED_PER_SECOND || peakMb > WANTED_MB
  const parts = Object.entries(phases).map(([phase, took]) => `${phase} ${took.toFixed(1)} s`)
  return [
    `${Math.round(perSecond)}${isMissed ? ' MISSED' : ''}`,
    ratio.toFixed(3),
    (baseline.cpuSeconds / cpuSeconds).toFixed(3),
    seconds.toFixed(1),
    peakMb.toFixed(0),
    parts.join(', '),
  ].join(' | ')
}

/** The latency of a server's answers while another process reads the history into the same database. */
export async function measureReaders({ scratch, env }: HistoryOptions): Promise<void> {
  const { CHAIN_RPC_URLS: _, ...withoutNode } = env
  const server = await startServer({ ...withoutNode, DATA_DIR: mkdtempSync(join(scratch, 'readers-')) })
  const requests: Request[] = Array.from({ length: 1_000 }, (_, i) => ({
    path: `/parcels/${(i % 301) - 150}/${(i % 77) - 38}`,
  }))
  try {
    const idle = await load(server.origin, requests, 5, 200)
    let figures: FollowFigures | undefined
    const besideEnv = { ...env, DATA_DIR: mkdtempSync(join(scratch, 'beside-')) }
    const reading = runFollow(['--new-world', '--until', 'finalized'], besideEnv, { asOfServer: true }).then(
      (one) => {
        figures = one
      },
    )
    const during: LoadResult[] = []
    while (!figures)
      during.push(await Promise.race([load(server.origin, requests, 2, 200), reading.then(() => idle)]))
    await reading
    const p99Ms = Math.max(...during.map((one) => one.p99Ms))
    console.log(
      `\nreaders while the history is read: p99 ${p99Ms.toFixed(2)} ms, idle ${idle.p99Ms.toFixed(2)} ms, ` +
        `${(p99Ms / idle.p99Ms).toFixed(1)}x (at most ${WANTED_P99_RATIO}x); peak of the follower ${figures.peakMb.toFixed(0)} MB`,
    )
  } finally {
    await server.stop()
  }
}
