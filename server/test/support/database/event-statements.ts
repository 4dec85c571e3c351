import type { DatabaseConnection } from 'kysely'
import { expect } from 'vitest'
import { TABLES_BY_EVENT } from '../../../src/db/distribution.ts'
import { GuardedDriver } from '../../../src/db/guarded-driver.ts'

const MENTIONS_TABLE = new RegExp(
  `\\b(?:from|join|into|update)\\s+"?(?:${TABLES_BY_EVENT.join('|')})"?(?![\\w])`,
  'i',
)
/** A column with the event is compared with a parameter, or one row is inserted, which has an event. */
const NAMES_EVENT =
  /"?event_id"?\s*=\s*\$\d|\(event_id,[^)]*\)\s+select \$\d+::integer|^insert into "\w+" \("event_id".*\) values \([^()]*\)(?! *,)/i

/** Each part of a statement that inserts into these tables, with its columns, and the beginning of its rows. */
const INSERT_PART = new RegExp(
  `insert\\s+into\\s+"?(?:${TABLES_BY_EVENT.join('|')})"?(?:\\s+as\\s+\\w+)?\\s*\\(([^)]*)\\)\\s*(\\S+\\s*\\(?[^\\s,)]*)`,
  'gi',
)
/** The event comes first, and is a parameter, or a column of rows of that event: else a part is cut into one for each machine. */
const IS_OF_ONE_EVENT = /^(?:select|values\s*\()\s*(?:\$\d+(?:::integer)?|(?:\w+\.)?event_id)$/i

/** Statements of the server that name no event, and why. */
const EXCEPTIONS: readonly (readonly [statement: RegExp, because: string])[] = [
  [
    /^\s*select (distinct )?event_id(, id)? from "(claim|code_load|event_hold|seen_request|attendance_grant|attendance_gift|edit_code_guess|attendance_rehearsal|grant_secret)"/,
    'a queue (readAllEvents): read without locks, in the background',
  ],
  [
    /^\s*insert into attendance_refusal/,
    'counts of some seconds: in the background, and event by event while a node is down',
  ],
  [/^delete from "\w+" where "event_id" in \(/, 'events that are deleted'],
  [
    /^\s*delete from made_event|^update "made_event"(_change)? set "image"/,
    'abandoned events: in the background',
  ],
  [
    /from event_place where true|^select count\(\*\) as "count" from "event_hold"/,
    'figures of all events, read once in some seconds',
  ],
  [
    /^\s*select count\(\*\)::integer as (open from \(|reserved from "claim")/,
    'figures of all events, read once in some seconds',
  ],
  [
    /"token"\."?id"? = \$|"token"\."address" = \$|^select .* from "token" where "address" = \$/,
    'an address, or a link to a token, names no event',
  ],
  [/"claim"\."address" = \$|^select "event_id" from "\w+" where "address" = \$/, 'an address names no event'],
  [
    /"token" where "(signature|revoked_at_s)" is not null|from token\s+where signature is not null and not is_logged/,
    'the log, the revocations and the keys are of all events',
  ],
  [/where event\.uuid = \$/, 'names the event by its UUID'],
  [
    /substring\(encrypted from|^\s*\(select event_id, encode\(encrypted|as given \(event_id, id, old/,
    'a change of keys, or a start',
  ],
]

/** How often a statement is looked at: reading from where it came takes milliseconds. */
const MOST_LOOKS = 3
const looks = new Map<string, number>()
/** An insert is known by its beginning: longer ones write the same columns of another number of rows. */
const KNOWN_BY = 4_000
const unlisted: string[] = []

/** A pool gives the same connections again and again. */
const watched = new WeakSet<DatabaseConnection>()
const acquire = GuardedDriver.prototype.acquireConnection
GuardedDriver.prototype.acquireConnection = async function (...options) {
  const connection = await acquire.apply(this, options)
  if (watched.has(connection)) return connection
  watched.add(connection)
  const execute = connection.executeQuery.bind(connection)
  connection.executeQuery = (query, ...others) => {
    note(query.sql)
    return execute(query, ...others)
  }
  return connection
}

/**
 * Fails tests in which the server has executed a statement on these tables that names no event, or inserts rows of several, and is not
 * listed above. Such a statement asks every machine of a database that is cut by event. For the end of every test file with a database.
 */
export function expectEventStatements(): void {
  expect(unlisted.splice(0)).toEqual([])
}

function note(text: string): void {
  const name = /^\s*insert/i.test(text) ? text.slice(0, KNOWN_BY) : text
  const before = looks.get(name) ?? 0
  if (before === MOST_LOOKS) return
  if (!MENTIONS_TABLE.test(text) || (NAMES_EVENT.test(text) && insertsOneEvent(text))) {
    looks.set(name, MOST_LOOKS)
    return
  }
  looks.set(name, before + 1)
  if (EXCEPTIONS.some(([statement]) => statement.test(text)) || !isOfServer()) return
  looks.set(name, MOST_LOOKS)
  unlisted.push(text)
}

function insertsOneEvent(text: string): boolean {
  return [...text.matchAll(INSERT_PART)].every(
    ([, columns = '', rows = '']) => /^\s*"?event_id\b/.test(columns) && IS_OF_ONE_EVENT.test(rows),
  )
}

/** Frames of tests have the path of their source. */
const OF_TEST = /\.test\.[jt]s|\/server\/(?:dist\/)?test\/(?!support\/event-statements)/
const OF_SERVER = /\/server\/dist\/src\/attendance\//

/** Whether the server executes the statement, and not a test. */
function isOfServer(): boolean {
  const limit = Error.stackTraceLimit
  Error.stackTraceLimit = 50
  const frames = new Error().stack?.split('\n') ?? []
  Error.stackTraceLimit = limit
  const first = frames.find((frame) => OF_TEST.test(frame) || OF_SERVER.test(frame))
  return first !== undefined && !OF_TEST.test(first)
}
