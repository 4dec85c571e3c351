import { type Command, InvalidArgumentError } from 'commander'
import type { Chain } from '../chain/chain.ts'
import type { OwnState } from '../chain/follow/status-reader.ts'
import type { HistoryStep } from '../chain/history/read-history.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { CommandError, PublicCommandError } from '../errors.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { runCommand, writeResult } from './run-command.ts'

/** The options of the command. */
export interface FollowOptions {
  readonly until?: Until
  readonly ground?: string
  readonly newWorld?: boolean
}

type Until = 'finalized' | 'latest' | number

/** `landpass follow` */
export function addFollowCommand(program: Command): void {
  program
    .command('follow')
    .description('read the land from the chain, and keep it current until Ctrl-C')
    .option('--until <block>', 'stop there: finalized, latest, or the number of a block', parseUntil)
    .option('--ground <folder>', 'snapshot with districts, or of a block from which to go on')
    .option('--new-world', 'read the history again and replace the world by it, also by --ground')
    .action((options: FollowOptions) => runCommand((signal) => runFollow(options, signal)))
}

function parseUntil(text: string): Until {
  if (text === 'finalized' || text === 'latest') return text
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('must be finalized, latest or the number of a block.')
}

async function runFollow(options: FollowOptions, signal: AbortSignal): Promise<void> {
  const config = readConfig(process.env)
  if (config.chain.nodeUrls.length === 0)
    throw new CommandError('Set CHAIN_RPC_URLS to the address of an Ethereum node: docs/chain.md.')
  // Other commands start faster without this code.
  const [{ openChain }, { serveFollower }] = await Promise.all([
    import('../chain/chain.ts'),
    import('./follower-server.ts'),
  ])
  const log = (line: string) => process.stderr.write(`landpass: ${line}\n`)
  await withDatabase(config, async (engine) => {
    const parts = { config, db: engine.db, clock: SYSTEM_CLOCK, log }
    const chain = await openChain({ ...parts, signal })
    let own: OwnState | undefined
    const show = new ProgressShow()
    const onProgress = (step: HistoryStep, sentence: string) => {
      own = { state: 'history', reason: sentence }
      chain.announcer.update(sentence)
      if ('done' in step) show.update(step)
      else writeLine(step, sentence)
    }
    const onShown = () => {
      show.stop()
      own = undefined
    }
    // A server that has started this process for the history serves the metrics itself.
    const isOfServer = process.send !== undefined
    const server = isOfServer ? undefined : await serveFollower({ ...parts, chain, ownState: () => own })
    try {
      await follow(chain, options, { signal, onProgress, onShown })
    } catch (error) {
      throw forPrinting(error, chain)
    } finally {
      show.stop()
      await server?.close()
      await chain.close()
    }
  })
}

/**
 * An error of the command with the secrets of nodes masked, as it is printed on stderr, and with what a server that has started
 * the command may answer.
 */
export function forPrinting(
  error: unknown,
  chain: Pick<Chain, 'publicText'> & { readonly nodes: Pick<Chain['nodes'], 'hideSecrets'> },
): CommandError {
  const message = chain.nodes.hideSecrets(error instanceof Error ? error.message : String(error))
  return new CommandError(message, error instanceof CommandError ? error.publicText : chain.publicText(error))
}

export interface FollowHooks {
  readonly signal: AbortSignal
  readonly onProgress: (step: HistoryStep, sentence: string) => void
  /** The history has been read, and its world is shown. */
  readonly onShown: () => void
}

/** What the command needs of a {@link Chain}. */
type CommandChain = Pick<
  Chain,
  'block' | 'blockNumberOf' | 'follow' | 'hasPosition' | 'readHistory' | 'readNewest' | 'whyNot'
> & { readonly announcer: Pick<Chain['announcer'], 'during'> }

/**
 * Reads the history where there is no world to follow, then follows.
 *
 * @throws {CommandError} with the reason where the world cannot be followed
 */
export async function follow(
  chain: CommandChain,
  { until, ground, newWorld = false }: FollowOptions,
  { signal, onProgress, onShown }: FollowHooks,
): Promise<void> {
  if (newWorld || !(await chain.hasPosition())) {
    // By a name, the history ends at the last block that is final when it has been read: that may take hours.
    const last = typeof until === 'number' ? until : undefined
    await chain.announcer.during(() =>
      chain.readHistory({ ground, until: last, replaces: newWorld }, onProgress),
    )
    onShown()
  } else if (ground !== undefined) {
    process.stderr.write('landpass: the world is followed already, so --ground is ignored.\n')
  }
  const target = until === undefined ? undefined : await chain.blockNumberOf(until)
  const result = await chain.follow({ until: target, signal, endsAt: ['stopped', 'no position'] })
  if (result === 'stopped' || result === 'no position')
    throw new PublicCommandError(chain.whyNot() ?? 'stopped')
  // Another process may have followed to the block.
  const block = chain.block ?? (result === 'reached' ? await chain.readNewest() : undefined)
  if (block)
    writeResult({ ok: true, block: block.number, hash: block.hash }, [
      `The land is at block ${block.number}.`,
    ])
}

/** Progress as JSON lines where stdout is piped, and as sentences on a terminal. */
function writeLine(line: object, sentence: string): void {
  if (process.stdout.isTTY) process.stderr.write(`${sentence}\n`)
  else process.stdout.write(`${JSON.stringify(line)}\n`)
}
