import { expect, test } from 'vitest'
import type { Refusal, Rows } from './messages.ts'
import { newSession, type Session, Sessions } from './sessions.ts'

/** A fake database that only tracks whether a transaction is open, and records its statements. */
function givenSessions(idleTransactionMs?: number) {
  const ran: string[] = []
  let isInTransaction = false
  const run = async (sql: string): Promise<Rows> => {
    ran.push(sql)
    if (/begin/.test(sql)) isInTransaction = true
    if (/commit|rollback/.test(sql)) isInTransaction = false
    return { columns: [], types: [], rows: [], command: '', rowCount: undefined, isInTransaction }
  }
  const sessions = new Sessions({ run }, idleTransactionMs)
  const ask = (session: Session, sql: string) =>
    new Promise<Rows | Refusal>((answer) => sessions.submit(session, { sql, params: [], answer }))
  return { sessions, ran, ask }
}

test('sessions take turns, so that one with many statements does not block the others', async () => {
  const { ran, ask } = givenSessions()
  const [busy, modest] = [newSession(), newSession()]

  await Promise.all([ask(busy, 'b1'), ask(busy, 'b2'), ask(busy, 'b3'), ask(modest, 'm1')])

  expect(ran).toEqual(['b1', 'm1', 'b2', 'b3'])
})

test('no other statement runs between begin and commit', async () => {
  const { ran, ask } = givenSessions()
  const [owner, other] = [newSession(), newSession()]

  await ask(owner, 'begin')
  const waiting = ask(other, 'outside')
  await ask(owner, 'inside')
  await ask(owner, 'commit')
  await waiting

  expect(ran).toEqual(['begin', 'inside', 'commit', 'outside'])
})

test('a released session is rolled back, and its waiting statements are dropped', async () => {
  const { sessions, ran, ask } = givenSessions()
  const [owner, other] = [newSession(), newSession()]
  await ask(owner, 'begin')
  void ask(other, 'forgotten')
  const kept = ask(newSession(), 'kept')

  sessions.release(other)
  sessions.release(owner)
  await kept

  expect(ran).toEqual(['begin', 'rollback', 'kept'])
})

test('background statements run when no other statement waits', async () => {
  const { sessions, ran, ask } = givenSessions()
  const session = newSession()

  await ask(session, 'begin')
  const vacuumed = sessions.runInBackground('vacuum')
  await ask(session, 'inside')
  const answered = Promise.all([ask(session, 'commit'), ask(newSession(), 'another')])
  await Promise.all([vacuumed, answered])

  expect(ran).toEqual(['begin', 'inside', 'commit', 'another', 'vacuum'])
})

test('a transaction that is idle for too long is rolled back, and its next statement fails', async () => {
  const { ran, ask } = givenSessions(20)
  const [silent, other] = [newSession(), newSession()]
  await ask(silent, 'begin')

  await ask(other, 'waited')

  expect(ran).toEqual(['begin', 'rollback', 'waited'])
  expect(await ask(silent, 'late')).toMatchObject({ code: '25P03' })
  expect(ran).not.toContain('late')
})
