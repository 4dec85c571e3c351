import { readFileSync } from 'node:fs'
import type { ContractRole, Network, RawLog } from '../../../src/chain/chain-types.ts'

const FILE = new URL('../../../../test/fixtures/chain/logs.json', import.meta.url)

/** The accounts of the recorded chain. */
export const ALICE = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
export const BOB = '0x90f79bf6eb2c4f870365e785982e1f101e93b906'
export const CAROL = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65'
export const DAVE = '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc'
export const ERIN = '0x976ea74026e726554db657fa54763abd0c3a0aa9'
export const FRANK = '0xa0ee7a142d267c1f36714e4a8f75612f20a79720'
export const LENDER = '0x14dc79964da2c08b23698b3d3cc7ca32193d9955'
/** Buys the loan of another lender, and pardons it. */
export const SECOND_LENDER = '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f'
/** Deployed the contracts. */
export const DEPLOYER = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'
export const NOBODY = `0x${'0'.repeat(40)}`

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
