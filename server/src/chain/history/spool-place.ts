import { join } from 'node:path'
import type { Network } from '../chain-types.ts'
import { firstBlock } from '../logs/log-filter.ts'
import { contractsHash } from '../networks/contracts-hash.ts'

/** Where logs are stored, and which. */
export interface SpoolPlace {
  readonly folder: string
  /** The name of the chain and its contracts. */
  readonly name: string
  /** The first block of the history. */
  readonly firstBlock: number
}

interface PlaceOptions {
  readonly network: Network
  /** The folder of the stored logs. */
  readonly spoolFolder: string
}

/** The folder of the stored logs, for each data folder one. */
export function spoolFolderIn(dataDir: string): string {
  return join(dataDir, 'chain')
}

/** Where the logs are stored. */
export function spoolPlace({ network, spoolFolder }: PlaceOptions): SpoolPlace {
  return {
    folder: spoolFolder,
    name: fileNameOf(network, contractsHash(network)),
    firstBlock: firstBlock(network),
  }
}

/** The file with what contracts answered, beside the logs. */
export function answersPath({ network, spoolFolder }: PlaceOptions): string {
  return join(spoolFolder, `${fileNameOf(network, contractsHash(network))}.answers`)
}

/**
 * Of the files of a network, without what says of what they are.
 *
 * @param hash of the contracts
 */
export function fileNameOf({ chainId }: Pick<Network, 'chainId'>, hash: string): string {
  return `${chainId}-${hash.slice(0, 16)}`
}
