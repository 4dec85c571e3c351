import { readFileSync } from 'node:fs'
import type { ContractRole, Network, RawLog } from '../../src/chain/chain-types.ts'

const FILE = new URL('../../../test/fixtures/chain/logs.json', import.meta.url)

interface RecordedLog {
  /** A role, or `unrelatedERC721`. */
  readonly contract: string
  readonly transaction: string
  readonly blockTime: number
  readonly log: Pick<RawLog, 'address' | 'topics' | 'data'>
}

/** A log as the real contracts wrote it, and what its transaction did. */
export interface ExampleLog {
  readonly contract: string
  readonly transaction: string
  readonly timeMs: number
  readonly log: RawLog
}

/** All recorded logs, in their order; each stands in a block of its own, whose number is its position from 1. */
export const EXAMPLE_LOGS: readonly ExampleLog[] = (
  JSON.parse(readFileSync(FILE, 'utf8')) as { readonly logs: readonly RecordedLog[] }
).logs.map(({ contract, transaction, blockTime, log }, index) => ({
  contract,
  transaction,
  timeMs: blockTime * 1000,
  log: rawLog({ ...log, blockNumber: index + 1 }),
}))

/** The chain on which the examples were recorded. */
export const EXAMPLE_NETWORK: Network = {
  name: 'examples',
  chainId: 31_337,
  // The only ApprovalForAll of LAND is the ninth log, in the old order of arguments.
  landApprovalForAllArgumentOrderChangesAtBlock: 9,
  contracts: {
    ...(Object.fromEntries(
      EXAMPLE_LOGS.filter(({ contract }) => contract !== 'unrelatedERC721').map(({ contract, log }) => [
        contract as ContractRole,
        { address: log.address, startBlock: 1 },
      ]),
    ) as Network['contracts']),
    OffChainMarketplace: { address: `0x${'a1'.repeat(20)}`, startBlock: 1 },
    OffChainMarketplaceV2: { address: `0x${'a2'.repeat(20)}`, startBlock: 1 },
    OffChainMarketplaceV3: { address: `0x${'a3'.repeat(20)}`, startBlock: 1 },
    Rentals: { address: `0x${'b1'.repeat(20)}`, startBlock: 1 },
  },
}

/** A log in block 1000, first of its block, where nothing else is given. */
export function rawLog(log: Pick<RawLog, 'address' | 'topics' | 'data'> & Partial<RawLog>): RawLog {
  const blockNumber = log.blockNumber ?? 1_000
  return {
    blockNumber,
    blockHash: `0x${blockNumber.toString(16).padStart(64, '0')}`,
    txHash: `0x${(blockNumber + 2 ** 32).toString(16).padStart(64, '0')}`,
    txIndex: 0,
    logIndex: 0,
    blockTimeS: undefined,
    ...log,
  }
}
