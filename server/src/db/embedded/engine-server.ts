import type { EmbeddedDatabase } from './database.ts'
import { FrameTooLargeError, type Link, portLink } from './link.ts'
import { Maintenance } from './maintenance.ts'
import type { Answer, Refusal, Request, Rows } from './messages.ts'
import { newSession, type Session, Sessions } from './sessions.ts'

type CallerLink = Link<Answer, Request>

/** Serves all clients of the one database. Each `EngineClient` is connected to it by a link. */
export class EngineServer {
  readonly #database: EmbeddedDatabase
  readonly #sessions: Sessions
  readonly #maintenance: Maintenance
  readonly #callers = new Set<Caller>()
  /** The session that runs LISTEN: inside a caller's transaction a rollback would undo it. */
  readonly #listening = newSession()

  constructor(database: EmbeddedDatabase) {
    this.#database = database
    this.#sessions = new Sessions(database)
    this.#maintenance = new Maintenance(this.#sessions)
    database.onNotification((channel, payload) => this.#notify(channel, payload))
    this.#maintenance.start()
  }

  serve(link: CallerLink): void {
    const caller = new Caller(link)
    this.#callers.add(caller)
    link.onMessage((request) => this.#receive(caller, request))
    link.onClose(() => this.#forget(caller))
  }

  /** Waits until the running statement has ended, and closes the database. */
  async close(): Promise<void> {
    this.#maintenance.stop()
    for (const caller of [...this.#callers]) {
      this.#forget(caller)
      caller.link.close()
    }
    await this.#sessions.rest()
    await this.#database.close()
  }

  #receive(caller: Caller, request: Request): void {
    switch (request.op) {
      case 'query':
        this.#query(caller, request)
        break
      case 'release':
        this.#release(caller, request.session)
        break
      case 'listen':
        this.#listen(caller, request)
        break
      case 'maintain':
        void this.#maintenance.runNow().then(() => caller.send({ op: 'done', id: request.id }))
        break
      case 'lend':
        this.serve(portLink(request.port))
        break
    }
  }

  #query(caller: Caller, { id, session: number, sql, params }: Request & { op: 'query' }): void {
    const session = caller.sessions.get(number) ?? newSession()
    caller.sessions.set(number, session)
    const answer = (result: Rows | Refusal) => {
      // An idle session is deleted: clients use a new number for every single statement.
      // A session that lost its transaction stays until its client has got the error and releases it.
      const isAtRest = !result.isInTransaction && session.waiting.length === 0 && !session.isReleased
      if (isAtRest) caller.sessions.delete(number)
      caller.answer(id, result)
    }
    this.#sessions.submit(session, { sql, params, answer })
  }

  #release(caller: Caller, number: number): void {
    const session = caller.sessions.get(number)
    if (!session) return
    caller.sessions.delete(number)
    this.#sessions.release(session)
  }

  #listen(caller: Caller, { id, channel }: Request & { op: 'listen' }): void {
    caller.channels.add(channel)
    const sql = `listen "${channel.replaceAll('"', '""')}"`
    this.#sessions.submit(this.#listening, { sql, params: [], answer: () => caller.send({ op: 'done', id }) })
  }

  #notify(channel: string, payload: string): void {
    for (const caller of this.#callers) {
      if (caller.channels.has(channel)) caller.send({ op: 'notification', channel, payload })
    }
  }

  #forget(caller: Caller): void {
    this.#callers.delete(caller)
    for (const number of [...caller.sessions.keys()]) this.#release(caller, number)
  }
}

class Caller {
  readonly link: CallerLink
  readonly sessions = new Map<number, Session>()
  readonly channels = new Set<string>()

  constructor(link: CallerLink) {
    this.link = link
  }

  send(answer: Answer): void {
    this.link.send(answer)
  }

  answer(id: number, result: Rows | Refusal): void {
    try {
      this.send('rows' in result ? { op: 'rows', id, ...result } : { op: 'refused', id, ...result })
    } catch (error) {
      if (!(error instanceof FrameTooLargeError)) throw error
      this.send({ op: 'refused', id, ...tooLarge(error.message, result.isInTransaction) })
    }
  }
}

/** 54000 is PostgreSQL's "program limit exceeded". */
function tooLarge(message: string, isInTransaction: boolean): Refusal {
  return {
    message,
    code: '54000',
    constraint: undefined,
    table: undefined,
    column: undefined,
    isInTransaction,
  }
}
