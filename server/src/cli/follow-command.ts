import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Chain } from '../chain/chain.ts'
import type { HistoryStep } from '../chain/history/read-history.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { CommandError } from '../errors.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { runCommand, writeResult } from './run-command.ts'

interface FollowOptions {
  readonly until?: Until
  readonly ground?: string
  readonly newWorld?: boolean
  readonly ifEmpty?: boolean
}

type Until = 'finalized' | 'latest' | number

/** `landpass follow` */
export function addFollowCommand(program: Command): void {
  program
    .command('follow')
    .description('read the land from the chain, and keep it current until Ctrl-C')
    .option('--until <block>', 'stop there: finalized, latest, or the number of a block', parseUntil)
    .option('--ground <folder>', 'snapshot with districts, or of a block from which to go on')
    .option('--new-world', 'read the history again and replace the world by it')
    .addOption(
      new Option('--if-empty', 'refuse to replace a world by that of --ground').conflicts('newWorld'),
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
    throw new CommandError('Set CHAIN_RPC_URLS to the address of an Ethereum node: docs/running.md.')
  // Other commands start faster without this code.
  const { openChain } = await import('../chain/chain.ts')
  await withDatabase(config, async (engine) => {
    const chain = await openChain({
      config,
      db: engine.db,
      clock: SYSTEM_CLOCK,
      signal,
      log: (line) => process.stderr.write(`landpass: ${line}\n`),
    })
    try {
      await follow(chain, options, signal)
    } finally {
      await chain.close()
    }
  })
}

async function follow(
  chain: Chain,
  { until, ground, newWorld, ifEmpty }: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  const target = until === undefined ? undefined : await chain.blockNumberOf(until)
  if (newWorld || !(await chain.hasPosition())) {
    const replaces = newWorld || (ground !== undefined && !ifEmpty)
    const show = new ProgressShow()
    const onProgress = (step: HistoryStep, sentence: string) =>
      'done' in step ? show.update(step) : writeLine(step, sentence)
    await chain.readHistory({ ground, until: target, replaces }, onProgress).finally(() => show.stop())
  } else if (ground !== undefined) {
    process.stderr.write('landpass: the world is followed already, so --ground is ignored.\n')
  }
  const result = await chain.follow({ until: target, signal, endsAt: ['stopped', 'no position'] })
  if (result === 'stopped' || result === 'no position') throw new CommandError(chain.whyNot() ?? 'stopped')
  const block = chain.block
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
