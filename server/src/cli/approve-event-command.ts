import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { WaitingPage } from '../attendance/issuers/own/made-events/approvals.ts'
import { SYSTEM_CLOCK } from '../clock.ts'
import { readConfig } from '../config/config.ts'
import { AppError, CommandError } from '../errors.ts'
import { parseEvent, wholeNumber } from './argument-parsers.ts'
import { withDatabase } from './open-database.ts'
import { printable, runCommand, writeResult } from './run-command.ts'

/** Events of a page of the list. */
const PAGE = 50
const MAX_NUMBER = 9_999_999_999

/** `landpass approve-event` */
export function addApproveEventCommand(program: Command): void {
  program
    .command('approve-event')
    .description('approve an event that was made here, or its change; without an event, list those that wait')
    .argument('[event]', 'number or UUID of the event', parseEvent)
    .option('--refuse', 'refuse it: no further tokens; where a change of it waits, refuse the change alone')
    .option('--reason <text>', 'why, for its organiser')
    .option(
      '--tokens <number>',
      'approve it with fewer tokens than its organiser wants',
      wholeNumber(1, 999_999_999),
    )
    .option('--may-give', 'let its organiser give tokens to a list of addresses')
    .option('--no-may-give', 'no longer let its organiser do that')
    .option(
      '--content <number>',
      'answer only if it is still as the list showed it',
      wholeNumber(0, MAX_NUMBER),
    )
    .option(
      '--after <number>',
      'list those that wait with later numbers than this one',
      wholeNumber(0, MAX_NUMBER),
    )
    .option('--picture <file>', 'only write the picture of its organiser to a file')
    .action((event: string | undefined, options: GivenOptions) =>
      runCommand(() => runApproveEvent(event, options)),
    )
}

interface GivenOptions {
  readonly refuse?: boolean
  readonly reason?: string
  readonly tokens?: number
  readonly mayGive?: boolean
  readonly content?: number
  readonly picture?: string
  readonly after?: number
}

/** What stays as it is has null. */
interface ListedChange {
  readonly name: string | null
  readonly event_url: string | null
  /** Whether the picture changes. */
  readonly image: boolean
  readonly description: string | null
  readonly coordinates: string | null
  readonly tokens: number | null
}

async function runApproveEvent(
  event: string | undefined,
  { refuse = false, picture: pictureFile, after = 0, ...details }: GivenOptions,
): Promise<void> {
  const approval = refuse ? 'refused' : 'approved'
  const config = readConfig(process.env)
  const { Approvals } = await import('../attendance/issuers/own/made-events/approvals.ts')
  const { CodeCountCache } = await import('../attendance/events/code-count-cache.ts')
  await withDatabase(config, async ({ db }) => {
    const approvals = new Approvals({ db, clock: SYSTEM_CLOCK, codeCounts: new CodeCountCache(db) })
    if (event === undefined) return writeWaiting(await approvals.waiting({ after, limit: PAGE }))
    const { parsePublicEventName } = await import('../attendance/events/event-params.ts')
    try {
      const found = await approvals.find(parsePublicEventName(event))
      if (pictureFile !== undefined) return await writePicture(await approvals.picture(found), pictureFile)
      const answered = await approvals.answer(found, { approval, ...details })
      const name = `"${lineOf(textOf(found.issuer_record.name))}"`
      writeResult({ ok: true, event: found.event_id, uuid: found.uuid, ...answered }, [
        ...(answered.change === null ? [] : [`The change of ${name} is ${answered.change}.`]),
        `${name} is ${answered.approval}.`,
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
  const events = waiting.map(({ event, supply, madeAtMs, change, version, approval, reason, mayGive }) => ({
    event: event.event_id,
    uuid: event.uuid,
    name: textOf(event.issuer_record.name),
    description: textOf(event.issuer_record.description),
    coordinates: event.coordinates,
    tokens: supply,
    made_at: new Date(madeAtMs).toISOString(),
    ...{ content: version, approval, reason, may_give: mayGive },
    change: change
      ? {
          ...{ name: change.name, description: change.description, event_url: change.event_url },
          ...{ image: change.has_image, coordinates: change.coordinates, tokens: change.supply },
        }
      : null,
  }))
  writeResult({ ok: true, total, next: next ?? null, events }, [
    ...events.flatMap(({ event, name, description, coordinates, tokens, made_at, content, change }) => [
      `${event}  "${lineOf(name)}"  at ${coordinates}, ${tokens} tokens, made ${made_at}, content ${content}`,
      ...(description === '' ? [] : [`    ${lineOf(description)}`]),
      ...(change === null ? [] : changeLines(change)),
    ]),
    ...(next === undefined
      ? []
      : [`${total} wait in all; the next ones: landpass approve-event --after ${next}`]),
    events.length === 0 ? 'No event waits.' : 'Approve one with landpass approve-event <number>.',
  ])
}

/** What changes of an event; it stays as it is until that is approved. */
function changeLines(change: ListedChange): readonly string[] {
  const { name, description, event_url: link, image, coordinates, tokens } = change
  return [
    '    A change of this event waits:',
    ...(name === null ? [] : [`    name: ${lineOf(name)}`]),
    ...(coordinates === null ? [] : [`    places: ${coordinates}`]),
    ...(tokens === null ? [] : [`    tokens: ${tokens}`]),
    ...(description === null ? [] : [`    description: ${lineOf(description)}`]),
    ...(link === null ? [] : [`    link: ${lineOf(link)}`]),
    ...(image ? ['    another picture: --picture writes it to a file'] : []),
  ]
}

/** A text of an event, as it was written. */
function textOf(text: unknown): string {
  return typeof text === 'string' ? text : ''
}

/** One line for a terminal. */
function lineOf(text: string): string {
  return printable(text.replaceAll(/\s+/gu, ' '))
}
