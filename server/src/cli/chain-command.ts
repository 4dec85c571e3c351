import { randomInt } from 'node:crypto'
import type { Command } from 'commander'
import type { CheckResult } from '../chain/check/check-land.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { CommandError } from '../errors.ts'
import { MAX_SEED, wholeNumber } from './argument-parsers.ts'
import { withDatabase } from './open-database.ts'
import { ProgressShow } from './progress.ts'
import { EXIT_FAILED, exitWith2OnWrongUse, runCommand, writeResult } from './run-command.ts'

interface CheckOptions {
  readonly sample?: number
  readonly seed?: number
  readonly block?: number
}

/** The contracts could not be asked: nothing is known of differences. */
const EXIT_NOT_ASKED = 3

/** `landpass chain check` */
export function addChainCommand(program: Command): void {
  const chain = program.command('chain').description('the land and the chain that it comes from')
  chain
    .command('check')
    .description(
      'compare the tables with the contracts: exit code 1 where they differ, 3 where no node can be asked',
    )
    .option(
      '--sample <number>',
      'compare that many parcels and estates, chosen at random',
      wholeNumber(1, 1_000_000),
    )
    .option('--seed <number>', 'choose the same sample again', wholeNumber(0, MAX_SEED))
    .option('--block <number>', 'only if the land is at this block', wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .action(async (options: CheckOptions) => {
      let result: CheckResult | undefined
      await runCommand(async (signal) => {
        result = await runCheck(options, signal)
      }, 'Stopped.')
      process.exitCode =
        result === undefined ? EXIT_NOT_ASKED : result.differences.length > 0 ? EXIT_FAILED : 0
    })
  for (const command of chain.commands) exitWith2OnWrongUse(command)
}

async function runCheck(
  { sample: size, seed = randomInt(MAX_SEED), block }: CheckOptions,
  signal: AbortSignal,
): Promise<CheckResult> {
  const config = readConfig(process.env)
  if (config.chain.nodeUrls.length === 0)
    throw new CommandError('Set CHAIN_RPC_URLS to the address of an Ethereum node: docs/chain-check.md.')
  const { openChain } = await import('../chain/chain.ts')
  const sample = size === undefined ? undefined : { size, seed }
  const result = await withDatabase(config, async ({ db }) => {
    const log = (line: string) => process.stderr.write(`landpass: ${line}\n`)
    const chain = await openChain({ config, db, clock: SYSTEM_CLOCK, signal, log })
    const show = new ProgressShow()
    try {
      return await chain.check({
        sample,
        block,
        onProgress: ({ done, total }) => show.update({ phase: 'check', done, total }),
      })
    } finally {
      show.stop()
    }
  })
  await writeCheck(result, sample?.seed)
  return result
}

/** On a terminal each difference is a sentence, else a line of JSON; the summary is the last line. */
async function writeCheck(result: CheckResult, seed: number | undefined): Promise<void> {
  const { countByField, differenceText } = await import('../chain/check/findings.ts')
  const { block, assets, calls, differences, notCompared } = result
  for (const difference of differences)
    process.stdout.write(
      `${process.stdout.isTTY ? differenceText(difference) : JSON.stringify({ difference })}\n`,
    )
  const isSame = differences.length === 0
  const found = isSame ? 'no difference' : `${differences.length} differences`
  const skipped = Object.entries(notCompared).map(([field, count]) => `${field} ${count}`)
  writeResult(
    {
      ok: isSame,
      block: block.number,
      hash: block.hash,
      assets,
      calls,
      differences: differences.length,
      fields: countByField(differences),
      notCompared,
      ...(seed !== undefined && { seed }),
    },
    [
      `${assets} parcels and estates at block ${block.number}: ${found} to the contracts.`,
      ...(skipped.length > 0 ? [`The contracts do not answer for: ${skipped.join(', ')}.`] : []),
      ...(seed === undefined ? [] : [`The same sample: --sample ${assets} --seed ${seed}`]),
    ],
  )
}
