import { writeFile } from 'node:fs/promises'
import { type Command, InvalidArgumentError } from 'commander'
import type { WaitingPage } from '../attendance/own-issuer/made-events/approvals.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { AppError, CommandError } from '../errors.ts'
import { withDatabase } from './open-database.ts'
import { runCommand, writeResult } from './run-command.ts'

/** What is wrong with the key is said by {@link runApproveEvent}; the log of the servers has the rest. */
const SILENT = { info: () => {}, warn: () => {} }
/** Events of a page of the list. */
const PAGE = 50

/** `landpass approve-event` */
export function addApproveEventCommand(program: Command): void {
  program
    .command('approve-event')
    .description('approve an event that was made here; without an event, list those that wait')
    .argument('[event]', 'number or UUID of the event', parseEvent)
    .option('--refuse', 'refuse it: no further tokens')
    .option('--after <number>', 'list those that wait with later numbers than this one', parseNumber)
    .option('--picture <file>', 'only write the picture of its organiser to a file')
    .action((event: string | undefined, options: GivenOptions) =>
      runCommand(() => runApproveEvent(event, options)),
    )
}

interface GivenOptions {
  readonly refuse?: boolean
  readonly picture?: string
  readonly after?: number
}

async function runApproveEvent(
  event: string | undefined,
  { refuse = false, picture: pictureFile, after = 0 }: GivenOptions,
): Promise<void> {
  const approval = refuse ? 'refused' : 'approved'
  const config = readConfig(process.env)
  const { openApprovals } = await import('../attendance/own-issuer/made-events/approvals.ts')
  const { openKeys } = await import('../attendance/setup-problem.ts')
  await withDatabase(config, async (engine) => {
    const { vault, problem } = await openKeys({ config, engine, clock: SYSTEM_CLOCK, log: SILENT })
    if (problem) throw new CommandError(`Events cannot be approved ${problem.reason}.`)
    const approvals = openApprovals({ db: engine.db, clock: SYSTEM_CLOCK, vault })
    if (event === undefined) return writeWaiting(await approvals.waiting({ after, limit: PAGE }))
    const { parsePublicEventName } = await import('../attendance/events/event-params.ts')
    try {
      const found = await approvals.find(parsePublicEventName(event))
      if (pictureFile !== undefined) return await writePicture(await approvals.picture(found), pictureFile)
      await approvals.answer(found, approval)
      writeResult({ ok: true, event: found.event_id, uuid: found.uuid, approval }, [
        `"${printable(textOf(found.issuer_record.name))}" is ${approval}.`,
      ])
    } catch (error) {
      throw error instanceof AppError ? new CommandError(error.message) : error
    }
  })
}

async function writePicture(png: Buffer | undefined, file: string): Promise<void> {
  if (!png) throw new CommandError('The event has no picture of its own.')
  await writeFile(file, png)
  writeResult({ ok: true, file }, [`The picture is in ${file}.`])
}

function writeWaiting({ total, events: waiting, next }: WaitingPage): void {
  const events = waiting.map(({ event, supply, madeAtMs }) => ({
    event: event.event_id,
    uuid: event.uuid,
    name: textOf(event.issuer_record.name),
    description: textOf(event.issuer_record.description),
    coordinates: event.coordinates,
    tokens: supply,
    made_at: new Date(madeAtMs).toISOString(),
  }))
  writeResult({ ok: true, total, next: next ?? null, events }, [
    ...events.flatMap(({ event, name, description, coordinates, tokens, made_at }) => [
      `${event}  "${printable(name)}"  at ${coordinates}, ${tokens} tokens, made ${made_at}`,
      ...(description === '' ? [] : [`    ${printable(description)}`]),
    ]),
    ...(next === undefined
      ? []
      : [`${total} wait in all; the next ones: landpass approve-event --after ${next}`]),
    events.length === 0 ? 'No event waits.' : 'Approve one with landpass approve-event <number>.',
  ])
}

/** A text of an event, as it was written. */
function textOf(text: unknown): string {
  return typeof text === 'string' ? text : ''
}

/** One line for a terminal: a text may hold anything, control sequences too. */
function printable(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').replaceAll(/\p{Cc}|\p{Cf}|\p{Surrogate}/gu, '?')
}

function parseNumber(text: string): number {
  if (/^\d{1,10}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('must be the number of an event.')
}

function parseEvent(text: string): string {
  if (/^(?:\d{1,10}|[0-9a-fA-F-]{36})$/.test(text)) return text
  throw new InvalidArgumentError('must be the number or the UUID of an event.')
}
