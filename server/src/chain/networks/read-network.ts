import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { CommandError } from '../../errors.ts'
import type { Network } from '../chain-types.ts'
import { KNOWN_NETWORKS } from './known-networks.ts'
import { parseNetwork } from './parse-network.ts'

/**
 * The network of a name, or of a JSON file. A file's network has the name of the file, without its folder and `.json`.
 *
 * @param nameOrPath `mainnet`, `sepolia`, or the path of a file
 * @throws {CommandError} with one line for each mistake in the file, or that there is no such file
 * @example
 * (await readNetwork('mainnet')).chainId // 1
 */
export async function readNetwork(nameOrPath: string): Promise<Network> {
  const known = KNOWN_NETWORKS.find(({ name }) => name === nameOrPath)
  if (known) return known
  const parsed = parseNetwork(basename(nameOrPath, '.json'), await readJson(nameOrPath))
  if ('network' in parsed) return parsed.network
  throw new CommandError(
    [
      `The network file ${nameOrPath} cannot be used:`,
      ...parsed.mistakes.map((mistake) => `  ${mistake}`),
    ].join('\n'),
  )
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const names = KNOWN_NETWORKS.map(({ name }) => name).join(', ')
    throw new CommandError(
      `There is no network ${path}, and no file of that name can be read (${error.code ?? error.message}). ` +
        `Use ${names} or the path of a network file.`,
    )
  })
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new CommandError(`The network file ${path} is not JSON: ${(error as Error).message}`)
  }
}
