import { checksumAddress, MAINNET_DOMAIN, timestampCall } from '@landpass/client/tokens'
import { type Command, InvalidArgumentError } from 'commander'
import type { PublishedKey } from '../attendance/issuers/own/keys/published-key.ts'
import type { TokenKeys } from '../attendance/issuers/own/keys/token-keys.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { CommandError } from '../errors.ts'
import { readTime } from '../time-text.ts'
import { parseAddress, wholeNumber } from './argument-parsers.ts'
import { withDatabase } from './open-database.ts'
import { exitWith2OnWrongUse, runCommand, writeResult } from './run-command.ts'

/** Longer than caches keep the published list. */
const ROTATION_S = 600
const MAX_ROTATION_S = 30 * 86_400
const SHOWN = 'The list is at /.well-known/attendance-issuers.json.'

/** `landpass issuer-key show`, `rotate`, `withdraw` and `root` */
export function addIssuerKeyCommand(program: Command): void {
  const command = program.command('issuer-key').description('the keys that sign attendance tokens')
  command
    .command('show')
    .description('print the addresses that sign or signed, and when')
    .action(() =>
      runCommand(() => withKeys(async (keys) => writeKeys(await keys.list(), []), { opens: false })),
    )
  command
    .command('rotate')
    .description('make a new key, which signs in ten minutes; then the present one stops')
    .option(
      '--after <seconds>',
      'sign with the new key that much later',
      wholeNumber(0, MAX_ROTATION_S),
      ROTATION_S,
    )
    .action(({ after }: { after: number }) =>
      runCommand(() =>
        withKeys(async (keys) => {
          const address = await keys.rotate(after)
          await writeKeys(await keys.list(), [
            `${checksumAddress(address)} signs in ${after} seconds. Keep a copy of the key file, and give it to all servers before.`,
          ])
        }),
      ),
    )
  command
    .command('withdraw')
    .description('mark a key as stolen; if it signs now, a new key replaces it at once')
    .argument('<address>', 'the address of the key', parseAddress)
    .option('--at <time>', 'since when, in RFC 3339; left out: now', parseTime)
    .action((address: string, { at }: { at?: number }) =>
      runCommand(() =>
        withKeys(async (keys) => {
          const made = await keys.withdraw(address, at)
          const list = await keys.list()
          const from = list.find((key) => key.address === made)?.from
          await writeKeys(list, [
            `Tokens of ${checksumAddress(address)} now count only if the public log had them before the theft.`,
            ...(made && from
              ? [
                  `${checksumAddress(made)} is new, and signs from ${isoOf(from)} on. Back up the key file, and copy it to all servers now. Until then they answer claims with 503.`,
                ]
              : []),
          ])
        }),
      ),
    )
  command
    .command('root')
    .description('print the last root of the public log of tokens, and the call that notes it on a chain')
    .action(() => runCommand(writeRoot))
  for (const sub of command.commands) exitWith2OnWrongUse(sub)
}

/** @param opens false: for work on the published list alone, which needs no file */
async function withKeys(
  work: (keys: TokenKeys) => Promise<void>,
  { opens = true }: { readonly opens?: boolean } = {},
): Promise<void> {
  const config = readConfig(process.env)
  const { TokenKeys, tokenKeyPath } = await import('../attendance/issuers/own/keys/token-keys.ts')
  await withDatabase(config, async ({ db, kind }) => {
    const path = tokenKeyPath(config, kind)
    if (opens && path === undefined)
      throw new CommandError('There is no file of keys: set TOKEN_KEY_FILE, or run "landpass make-keys".')
    const keys = new TokenKeys({ db, clock: SYSTEM_CLOCK, path })
    if (opens) await keys.open({ mayMake: false })
    await work(keys)
  })
}

async function writeRoot(): Promise<void> {
  const config = readConfig(process.env)
  const { TokenLog } = await import('../attendance/issuers/own/log/token-log.ts')
  const last = await withDatabase(config, ({ db }) => new TokenLog({ db, clock: SYSTEM_CLOCK }).root())
  if (!last)
    throw new CommandError('The log has no root yet: the first one is made when its first day is over.')
  const data = timestampCall(last.root)
  writeResult({ ok: true, ...last, to: MAINNET_DOMAIN.verifyingContract, data }, [
    `${last.day}: ${last.leaves} tokens, root ${last.root}`,
    `To note it on Ethereum, send a transaction to ${MAINNET_DOMAIN.verifyingContract} with the data`,
    data,
  ])
}

async function writeKeys(keys: readonly PublishedKey[], sentences: readonly string[]): Promise<void> {
  const lines = keys.map(
    ({ address, state, from, until }) =>
      `${checksumAddress(address)}  ${state}  from ${isoOf(from)}${until === null ? '' : ` until ${isoOf(until)}`}`,
  )
  writeResult({ ok: true, keys }, [...sentences, ...lines, SHOWN])
}

function parseTime(text: string): number {
  const { timeMs, wrong = 'which is not over' } = readTime(text)
  if (timeMs === undefined || timeMs > SYSTEM_CLOCK.nowMs())
    throw new InvalidArgumentError(`It is a time ${wrong}. Give a past time such as 2027-03-01T12:00:00Z.`)
  return Math.floor(timeMs / 1000)
}

function isoOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
