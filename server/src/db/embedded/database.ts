import { type PGlite, protocol } from '@electric-sql/pglite'
import type { Param } from '../row-types.ts'
import type { Refusal, Rows } from './messages.ts'
import { PreparedStatements } from './prepared-statements.ts'
import type { StatementRunner } from './sessions.ts'

const { serialize } = protocol

type BackendMessages = Awaited<ReturnType<PGlite['execProtocolStream']>>
type BackendMessage = BackendMessages[number]

/**
 * Runs statements in PGlite by PostgreSQL's own protocol: one call into WebAssembly for each statement instead of the
 * six of `PGlite.query`, and prepared statements, which `PGlite.query` does not have.
 */
export class EmbeddedDatabase implements StatementRunner {
  readonly #pglite: PGlite
  readonly #prepared = new PreparedStatements()
  readonly #onBroken: () => void

  /** @param onBroken called when PGlite itself failed: its memory is in an unknown state, so it cannot be used again */
  constructor(pglite: PGlite, onBroken: () => void) {
    this.#pglite = pglite
    this.#onBroken = onBroken
  }

  /** Never throws: a failure is an answer. */
  async run(sql: string, params: readonly Param[]): Promise<Rows | Refusal> {
    try {
      // Several statements in one text, as in migrations, need the simple protocol, which takes no parameters
      const maybeSeveral = params.length === 0 && sql.includes(';')
      const bytes = maybeSeveral ? serialize.query(sql) : this.#bytesOf(sql, params)
      const messages = await this.#pglite.execProtocolStream(bytes, { syncToFs: false, throwOnError: false })
      const result = readMessages(messages, (command) => this.#prepared.noteCommand(command))
      if (!('rows' in result)) this.#prepared.forget(sql)
      return result
    } catch (error) {
      // Not a database error: those are among the messages
      this.#prepared.forget(sql)
      // What WebAssembly throws when it stops in the middle of its work
      if ((error as Error).name === 'RuntimeError') this.#onBroken()
      return {
        ...NO_FACTS,
        message: (error as Error).message,
        isInTransaction: this.#pglite.isInTransaction(),
      }
    }
  }

  onNotification(hear: (channel: string, payload: string) => void): void {
    this.#pglite.onNotification(hear)
  }

  async close(): Promise<void> {
    await this.#pglite.close()
  }

  #bytesOf(sql: string, params: readonly Param[]): Uint8Array {
    const { name = '', isNew = true, stale = [] } = this.#prepared.take(sql) ?? {}
    // Bytes arrive as plain Uint8Arrays, the protocol wants a Buffer
    const values = params.map((param) => (param instanceof Uint8Array ? Buffer.from(param) : param))
    return Buffer.concat([
      ...stale.map((staleName) => serialize.close({ type: 'S', name: staleName })),
      ...(isNew ? [serialize.parse({ name, text: sql })] : []),
      serialize.bind({ statement: name, values }),
      serialize.describe({ type: 'P' }),
      serialize.execute({}),
      serialize.sync(),
    ])
  }
}

const NO_FACTS = { code: undefined, constraint: undefined, table: undefined, column: undefined } as const

/** The rows of the last statement, where one text has several. */
function readMessages(messages: BackendMessages, onCommand: (command: string) => void): Rows | Refusal {
  let result = { columns: [] as string[], types: [] as number[], rows: [] as (string | null)[][] }
  let tag = ''
  let failure: BackendMessage | undefined
  let isInTransaction = false
  for (const message of messages) {
    if (isOf<RowDescription>(message, 'rowDescription')) result = { ...columnsOf(message), rows: [] }
    else if (isOf<DataRow>(message, 'dataRow')) result.rows.push(message.fields)
    else if (isOf<CommandComplete>(message, 'commandComplete')) {
      tag = message.text
      onCommand(readTag(tag).command)
    } else if (isOf<ReadyForQuery>(message, 'readyForQuery')) isInTransaction = message.status !== 'I'
    else if (message.name === 'error') failure = message
  }
  if (failure) return { ...refusalOf(failure), isInTransaction }
  return { ...result, ...readTag(tag), isInTransaction }
}

interface RowDescription extends BackendMessage {
  readonly fields: readonly { readonly name: string; readonly dataTypeID: number }[]
}
interface DataRow extends BackendMessage {
  readonly fields: (string | null)[]
}
interface CommandComplete extends BackendMessage {
  readonly text: string
}
interface ReadyForQuery extends BackendMessage {
  readonly status: string
}

function isOf<Message extends BackendMessage>(
  message: BackendMessage,
  name: BackendMessage['name'],
): message is Message {
  return message.name === name
}

function columnsOf({ fields }: RowDescription): { columns: string[]; types: number[] } {
  return { columns: fields.map(({ name }) => name), types: fields.map(({ dataTypeID }) => dataTypeID) }
}

/** Only what callers may see: a DatabaseError also has `detail`, with values of rows. */
function refusalOf(failure: unknown): Omit<Refusal, 'isInTransaction'> {
  const { message, code, constraint, table, column } = failure as Refusal
  return { message, code: code ?? 'XX000', constraint, table, column }
}

/** @example readTag('INSERT 0 5') // { command: 'INSERT', rowCount: 5 } */
function readTag(tag: string): { command: string; rowCount: number | undefined } {
  const words = tag.split(' ')
  const last = words.at(-1) ?? ''
  return { command: words[0] ?? '', rowCount: /^\d+$/.test(last) ? Number(last) : undefined }
}
