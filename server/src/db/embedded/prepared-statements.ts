/** How many statements stay prepared: more than the server has, and each costs some 10 kB inside PGlite. */
const MAX_PREPARED = 200
/** Longer ones are inserts of many rows, which seldom have the same text twice: they are not prepared. */
const MAX_LENGTH = 6_000

/** Commands after which a prepared statement might be gone or answer other columns than it was prepared for. */
const FORGETTING_COMMANDS = new Set([
  'CREATE',
  'ALTER',
  'DROP',
  'DO',
  'CALL',
  'DEALLOCATE',
  'DISCARD',
  'ROLLBACK',
])

export interface Prepared {
  readonly name: string
  /** Whether it still has to be prepared. */
  readonly isNew: boolean
  /** Names of other statements to close: PGlite would hold them for ever. */
  readonly stale: readonly string[]
}

/**
 * Which statements are prepared under which name, the least recently used first. Preparing saves PGlite the parsing
 * and often the planning: a read by key took 32 µs instead of 90. There is one connection, so one list serves every
 * caller, and every statement that changes a table passes by here.
 */
export class PreparedStatements {
  readonly #names = new Map<string, string>()
  #stale: string[] = []
  #lastNumber = 0

  /** The statement's name, or undefined where preparing is not worth it. */
  take(sql: string): Prepared | undefined {
    if (sql.length > MAX_LENGTH) return undefined
    const known = this.#names.get(sql)
    const name = known ?? `s${++this.#lastNumber}`
    // Moved to the end: a Map keeps the order of insertion, and the first entry is the least recently used
    this.#names.delete(sql)
    this.#names.set(sql, name)
    if (this.#names.size > MAX_PREPARED) this.forget(this.#oldest())
    const stale = this.#stale
    this.#stale = []
    return { name, isNew: known === undefined, stale }
  }

  /** Closes it also after a failure: whether it was prepared before that is unknown. */
  forget(sql: string): void {
    const name = this.#names.get(sql)
    if (name !== undefined) this.#stale.push(name)
    this.#names.delete(sql)
  }

  /** Call it after each command: some, such as ALTER TABLE, invalidate all prepared statements. */
  noteCommand(command: string): void {
    if (!FORGETTING_COMMANDS.has(command)) return
    for (const sql of [...this.#names.keys()]) this.forget(sql)
  }

  #oldest(): string {
    const [sql = ''] = this.#names.keys()
    return sql
  }
}
