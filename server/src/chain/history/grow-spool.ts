import { readdir, rename, rm } from 'node:fs/promises'
import { CommandError } from '../../errors.ts'
import type { Network, RawLog } from '../chain-types.ts'
import { filterAddresses } from '../logs/log-filter.ts'
import { contractsHash } from '../networks/contracts-hash.ts'
import type { TimedLog } from '../packed-logs.ts'
import { dropOtherBranch, type FetchOptions, fetchHistory } from './fetch-history.ts'
import { findPart } from './network-part.ts'
import { type Spool, spoolPath } from './spool.ts'
import { answersPath, fileNameOf, spoolPlace } from './spool-place.ts'

export interface GrowOptions
  extends Pick<FetchOptions, 'source' | 'signal' | 'steadyMs' | 'onProgress' | 'onSuspectBlocks'> {
  readonly network: Network
  readonly folder: string
  /** Writes a line for operators. */
  readonly log: (line: string) => void
}

/**
 * Where logs of fewer contracts are stored, because the network had fewer, only those of the added contracts are requested. Then
 * `spool` has the logs of all contracts up to the block up to which the others were stored, in their order. A process that was
 * killed leaves the files from which the next one goes on.
 *
 * @throws {CommandError} with the reason why they cannot be read; nothing has changed then, and what was read stays stored
 */
export async function growSpool(spool: Spool, options: GrowOptions): Promise<void> {
  const { network, folder: spoolFolder } = options
  for (;;) {
    const part = await findStoredPart(network, spoolFolder)
    if (!part) return
    if (spool.logs === 0) await takeOver(spool, part, options)
    await rm(spoolPath(spoolFolder, addedName(network, part)), { force: true })
    await rm(answersPath({ network: part, spoolFolder }), { force: true })
    await rm(spoolPath(spoolFolder, spoolPlace({ network: part, spoolFolder }).name), { force: true })
  }
}

/** The network with only some of its contracts, whose logs are stored; of several, the one with the most contracts. */
export async function findStoredPart(network: Network, folder: string): Promise<Network | undefined> {
  const fileOf = (hash: string) => spoolPath('', fileNameOf(network, hash))
  const files = new Set(await readdir(folder).catch(() => []))
  files.delete(fileOf(contractsHash(network)))
  // Mostly the network has one file.
  const areOthers = [...files].some(
    (file) => file.startsWith(`${network.chainId}-`) && file.endsWith('.spool'),
  )
  return areOthers ? findPart(network, (hash) => files.has(fileOf(hash))) : undefined
}

/** The name of the file with the logs of the added contracts alone. */
function addedName(network: Network, part: Network): string {
  const [name, partName] = [network, part].map((of) => fileNameOf(of, contractsHash(of)))
  return `${name}+${partName}`
}

/** Stores the logs of a part of the network, and those of its other contracts. */
async function takeOver(spool: Spool, part: Network, options: GrowOptions): Promise<void> {
  const { network, folder: spoolFolder, source, signal, log } = options
  const known = new Set(filterAddresses(part))
  const addresses = filterAddresses(network).filter((address) => !known.has(address))
  const first = Math.min(
    ...Object.values(network.contracts).flatMap(({ address, startBlock }) =>
      addresses.includes(address) ? [startBlock] : [],
    ),
  )
  const stored = await spool.openBeside(spoolPlace({ network: part, spoolFolder }))
  try {
    await dropOtherBranch({ spool: stored, source, signal })
    const last = stored.nextBlock - 1
    const knownLog = (await stored.newestLog(first)) ?? (await oldestLog(stored))
    if (!knownLog) return
    await moveAnswers(options, part)
    if (first > last) return await spool.takeOver(stored, noLogs())
    log(
      `the network has ${addresses.length} more contracts than the stored logs: their logs alone are requested, of the blocks ${first} to ${last}`,
    )
    const added = await spool.openBeside({ name: addedName(network, part), firstBlock: first })
    try {
      await fetchHistory({
        ...options,
        ...{ spool: added, blocks: { first, last }, addresses, known: knownLog },
        parcelTransfer: () => undefined,
        mayBeEmpty: true,
        areApplied: false,
        onStored: () => undefined,
      })
      await spool.takeOver(stored, logsTo(last, added))
    } finally {
      await added.close()
    }
  } finally {
    await stored.close()
  }
}

async function oldestLog(spool: Spool): Promise<RawLog | undefined> {
  for await (const { logs } of spool.ranges()) if (logs[0]) return logs[0]
  return undefined
}

/** What contracts answered is the same for more contracts. */
async function moveAnswers({ network, folder }: GrowOptions, part: Network): Promise<void> {
  const pathOf = (of: Network) => answersPath({ network: of, spoolFolder: folder })
  await rename(pathOf(part), pathOf(network)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

async function* noLogs(): AsyncGenerator<TimedLog> {}

/** @throws {CommandError} where they end before this block, because they cannot be read */
async function* logsTo(last: number, spool: Spool): AsyncGenerator<TimedLog> {
  for await (const { logs } of spool.ranges()) yield* logs
  if (spool.nextBlock <= last)
    throw new CommandError(
      `the stored logs of the added contracts cannot be read from block ${spool.nextBlock} on`,
      'Stored logs cannot be read.',
    )
}
