import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { startPostgres } from '@landpass/server/test/support/database/postgres'
import { measureNewBlocks } from './block-figures.ts'
import { startMadeNode, writeNetwork } from './chain-processes.ts'
import { measureSteps } from './head-figures.ts'
import { measureHistory, measureReaders } from './history-figures.ts'

export interface ChainOptions {
  /** The length of the history; 3 million, as many as mainnet has at most, takes ten minutes. */
  readonly logs: number
  readonly emptyBlocks: number
  /** Words that choose figures: `history`, `readers`, `head`; all where it is empty. */
  readonly only: string
  readonly scratch: string
}

/** The most logs that the node keeps in memory, so that it is not slower than who asks it. */
const KEPT_LOGS = 500_000

/** Figures of following the chain, on PostgreSQL, with a made-up node on the same machine. */
export async function measureChain({ logs, emptyBlocks, only, scratch }: ChainOptions): Promise<void> {
  const isWanted = (part: string) => only === '' || only.includes(part)
  const node = await startMadeNode(logs, { keep: logs <= KEPT_LOGS })
  const postgres = await startPostgres()
  const env = {
    DATABASE_URL: postgres.url,
    DATA_DIR: mkdtempSync(join(scratch, 'follow-')),
    CHAIN_RPC_URLS: node.url,
    CHAIN_NETWORK: writeNetwork(scratch),
    WORLD: '-150,-150,150,150',
  }
  const options = { node, logs, scratch, env }
  try {
    console.log(`\n## the chain: ${logs.toLocaleString('en')} logs\n`)
    await measureHistory(options)
    if (isWanted('readers')) await measureReaders(options)
    if (isWanted('head')) {
      await measureNewBlocks(options)
      await measureSteps(options, emptyBlocks)
    }
  } finally {
    await postgres.stop()
    await node.stop()
  }
}
