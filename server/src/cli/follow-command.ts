import { setFlagsFromString } from 'node:v8'
import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Chain, Outdated } from '../chain/chain.ts'
import type { OwnState } from '../chain/follow/status-reader.ts'
import type { HistoryStep } from '../chain/history/history-step.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { CommandError, PublicCommandError } from '../errors.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { runCommand, writeResult } from './run-command.ts'
import { LINES, WorldRebuild } from './world-rebuild.ts'

/** The options of the command. */
export interface FollowOptions {
  readonly until?: Until
  readonly ground?: string
  readonly newWorld?: boolean
  readonly rebuild?: boolean
}

/**
 * How much the heap may grow before garbage is collected again. V8 lets it double and more: with 300,000 logs
 * a process had 350 MB at its peak, and 220 to 260 MB with this. A quarter of a replay is
 * garbage collection then, instead of a tenth.
 */
const HEAP_GROWTH_PERCENT = 25

type Until = 'finalized' | 'latest' | number

/** `landpass follow` */
export function addFollowCommand(program: Command): void {
  program
    .command('follow')
    .description('read the land from the chain, and keep it current until Ctrl-C')
    .option('--until <block>', 'stop there: finalized, latest, or the number of a block', parseUntil)
    .option('--ground <folder>', 'snapshot with districts, or of a block from which to go on')
    .option('--new-world', 'read the history again and replace the world by it, also by --ground')
    .addOption(
      new Option(
        '--rebuild',
        'make the world again from the stored logs, replace it at the block where it is then, and end',
      ).conflicts(['until', 'ground', 'newWorld']),
    )
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
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  // Other commands start faster without this code.
  const [{ openChain }, { serveFollower }] = await Promise.all([
    import('../chain/chain.ts'),
    import('./follower-server.ts'),
  ])
  await withDatabase(
    config,
    async (engine) => {
      const parts = { config, db: engine.db, clock: SYSTEM_CLOCK, log: logLine }
      // PostgreSQL works on two batches of rows with two processes; the embedded engine has one connection.
      const insertsAtOnce = engine.kind === 'postgres' ? 2 : 1
      const chain = await openChain({ ...parts, insertsAtOnce, signal })
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
        const hooks = { signal, onProgress, onShown }
        if (options.rebuild) await rebuild(chain, hooks)
        else await follow(chain, options, hooks)
      } catch (error) {
        throw forPrinting(error, chain)
      } finally {
        show.stop()
        await server?.close()
        await chain.close()
      }
    },
    { mayMake: true },
  )
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
  | 'block'
  | 'blockNumberOf'
  | 'follow'
  | 'hasPosition'
  | 'hasStoredLogs'
  | 'leads'
  | 'mend'
  | 'onMendDue'
  | 'readHistory'
  | 'readNewest'
  | 'rebuild'
  | 'whyNot'
  | 'whyOutdated'
> & { readonly announcer: Pick<Chain['announcer'], 'during'> }

/**
 * Reads the history where there is no world to follow, then follows.
 *
 * @throws {CommandError} with the reason where the world cannot be followed
 */
export async function follow(
  chain: CommandChain,
  { until, ground, newWorld = false }: FollowOptions,
  hooks: FollowHooks,
): Promise<void> {
  const { signal, onProgress, onShown } = hooks
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
  // A command that ends leaves a world of the newest rules and of all contracts; one that goes on follows the old one until the new one is there.
  const why = target === undefined ? undefined : await chain.whyOutdated()
  if (why === 'rules' || why === 'contracts') await rebuildIfPossible(chain, { why, until: target }, hooks)
  const rebuilding = new WorldRebuild({ chain, log: logLine })
  if (target === undefined) {
    chain.onMendDue = () => rebuilding.start()
    rebuilding.start()
  }
  const result = await chain
    .follow({ until: target, signal, endsAt: ['stopped', 'no position'] })
    .finally(() => rebuilding.close())
  if (result === 'stopped' || result === 'no position')
    throw new PublicCommandError(chain.whyNot() ?? 'stopped')
  // Another process may have followed to the block.
  const block = chain.block ?? (result === 'reached' ? await chain.readNewest() : undefined)
  if (block)
    writeResult({ ok: true, block: block.number, hash: block.hash }, [
      `The land is at block ${block.number}.`,
    ])
}

/** What fails leaves the old world, which is followed then. */
async function rebuildIfPossible(
  chain: CommandChain,
  { why, until }: { readonly why: Outdated; readonly until: number | undefined },
  { signal, onProgress, onShown }: FollowHooks,
): Promise<void> {
  if (!(await chain.hasStoredLogs())) return logLine(LINES[why].withoutLogs)
  try {
    await chain.announcer.during(() => chain.rebuild(until, onProgress))
  } catch (error) {
    signal.throwIfAborted()
    logLine(
      `the world cannot be made again at this time, so it is followed as it is: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
  onShown()
}

/** The world goes on being followed meanwhile, by the process that does so. */
async function rebuild(chain: CommandChain, { onProgress, onShown }: FollowHooks): Promise<void> {
  if ((await chain.whyOutdated()) === 'missing logs' && !(await chain.mend())) {
    writeResult({ ok: true }, ['No missing logs were found. The world stays as it is.'])
    return
  }
  await chain.announcer.during(() => chain.rebuild(undefined, onProgress))
  onShown()
  writeResult({ ok: true }, ['The world was made again.'])
}

function logLine(line: string): void {
  process.stderr.write(`landpass: ${line}\n`)
}

/** Progress as JSON lines where stdout is piped, and as sentences on a terminal. */
function writeLine(line: object, sentence: string): void {
  if (process.stdout.isTTY) process.stderr.write(`${sentence}\n`)
  else process.stdout.write(`${JSON.stringify(line)}\n`)
}
