import type { Command } from 'commander'
import type { KeptAtEvent, RemovedRows } from '../attendance/removal-queries.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { CommandError } from '../errors.ts'
import { parseAddress, parseEvent } from './argument-parsers.ts'
import { withDatabase } from './open-database.ts'
import { exitWith2OnWrongUse, runCommand, writeResult } from './run-command.ts'

interface GivenOptions {
  readonly dryRun: boolean
}

/** `landpass remove event` and `player` */
export function addRemoveCommand(program: Command): void {
  const command = program
    .command('remove')
    .description('delete an event, or what is stored of a player, for good')
  command
    .command('event')
    .description('delete an event with its codes, claims, tokens and counts')
    .argument('<event>', 'number or UUID of the event', parseEvent)
    .option('--dry-run', 'only count what would be deleted', false)
    .action((event: string, options: GivenOptions) => runCommand(() => runRemoveEvent(event, options)))
  command
    .command('player')
    .description('delete the claims and tokens of a player, and all else with the address')
    .argument('<address>', 'the address of the player', parseAddress)
    .option('--dry-run', 'only count what would be deleted', false)
    .action((address: string, options: GivenOptions) => runCommand(() => runRemovePlayer(address, options)))
  for (const sub of command.commands)
    exitWith2OnWrongUse(sub).addHelpText(
      'after',
      '\nIt works with and without a running server, and may be run again. Backups still have what was deleted.\n' +
        'Exit code: 0 done, 1 failed, 2 wrong use.',
    )
}

async function runRemoveEvent(text: string, { dryRun: isDryRun }: GivenOptions): Promise<void> {
  const config = readConfig(process.env)
  const { parsePublicEventName } = await import('../attendance/events/event-params.ts')
  const { findEvent } = await import('../attendance/events/event-queries.ts')
  const { removeEvent } = await import('../attendance/removal-queries.ts')
  const name = parsePublicEventName(text)
  const rows = await withDatabase(config, async ({ db }) => {
    // Rows of a number can be there without an event
    const eventId = 'eventId' in name ? name.eventId : (await findEvent(db, name))?.event_id
    return eventId === undefined ? {} : removeEvent(db, eventId, { nowMs: SYSTEM_CLOCK.nowMs(), isDryRun })
  })
  if (Object.keys(rows).length === 0) throw new CommandError(`The database has nothing of an event ${text}.`)
  writeResult({ ok: true, event: text, dry_run: isDryRun, rows }, [sentence(rows, isDryRun)])
}

async function runRemovePlayer(address: string, { dryRun: isDryRun }: GivenOptions): Promise<void> {
  const config = readConfig(process.env)
  const { removePlayer } = await import('../attendance/removal-queries.ts')
  const { rows, kept } = await withDatabase(config, ({ db }) =>
    removePlayer(db, address, { nowMs: SYSTEM_CLOCK.nowMs(), isDryRun }),
  )
  writeResult({ ok: true, address, dry_run: isDryRun, rows, kept }, [
    sentence(rows, isDryRun),
    ...kept.map(keptSentence),
  ])
}

function sentence(rows: RemovedRows, isDryRun: boolean): string {
  const tables = Object.entries(rows).map(([table, count]) => `${count} of ${table}`)
  if (tables.length === 0) return 'There is nothing to delete.'
  return `${isDryRun ? 'Would be deleted' : 'Deleted'}, in rows of tables: ${tables.join(', ')}.`
}

function keptSentence({ event, because, until }: KeptAtEvent): string {
  if (because === 'unfinished') return `Event ${event}: the claim is not finished. Run this again in an hour.`
  return until === null
    ? `Event ${event}: the claim stays, because the event has no end: it prevents a second token.`
    : `Event ${event}: the claim stays until ${until}: it prevents a second token. Run this again then.`
}
