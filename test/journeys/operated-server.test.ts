import { isDeepStrictEqual } from 'node:util'
import { freshDatabaseUrl } from '@landpass/server/test/support/database/engines'
import { startLossyProxy } from '@landpass/server/test/support/database/lossy-proxy'
import { eventually, serve } from '@landpass/server/test/support/processes/landpass'
import { expect, onTestFinished, test } from 'vitest'
import { OPERATOR_KEY, type OperatedPart, operated } from './operated-parts.ts'

/** Only for tests that hang. */
const SOON_MS = 150_000
/** Nothing listens on this port. */
const DEAD_NODE = 'http://127.0.0.1:1'
/** Attendance with the other issuer, which nothing calls here. */
const CONFIGURED = {
  ...{ ATTENDANCE_KEY: 'a1'.repeat(32), ISSUER_API_KEY: 'key' },
  ...{ ISSUER_CLIENT_ID: 'client', ISSUER_CLIENT_SECRET: 'secret' },
}
const GOOD = { condition: 'good', problem: null }

test('the operator sees a node that does not answer, refused requests, and a database that stopped', async () => {
  const database = await startLossyProxy(await freshDatabaseUrl())
  onTestFinished(() => database.stop())
  const server = await serve({
    ...{
      DATABASE_URL: database.url,
      CHAIN_RPC_URLS: DEAD_NODE,
      LOG_LEVEL: 'silent',
    },
    ...{ OPERATOR_KEY, EVENT_MAKERS: 'nobody', ...CONFIGURED, LIMIT_CLIENT_PER_MINUTE: '1' },
  })
  const partOf = async (name: string) => (await operated(server.origin)).get(name)
  const becomes = (name: string, expected: object) =>
    eventually(
      () => partOf(name),
      (part) => isLike(part, expected),
      SOON_MS,
    )

  await becomes('chain', { condition: 'bad', problem: 'chain_not_read' })
  expect(await partOf('land')).toMatchObject({ condition: 'bad', problem: 'world_waits' })
  await becomes('database', GOOD)
  await becomes('events', { ...GOOD, facts: { waiting: 0, held: 0 } })

  expect(await partOf('limits')).toMatchObject({ ...GOOD, facts: { refused: 0 } })
  for (let i = 0; i < 6; i++) await fetch(`${server.origin}/captcha`, { method: 'POST' })
  expect(await partOf('limits')).toMatchObject({
    ...{ condition: 'look', problem: 'requests_refused', facts: { refused: 5 } },
  })

  database.refuse()
  await becomes('database', { condition: 'bad', problem: 'database_unavailable' })
  expect(await partOf('events')).toMatchObject({ condition: 'unknown', problem: 'not_read', facts: {} })
  expect(await partOf('land')).toMatchObject({ condition: 'bad', problem: 'world_waits' })
  expect(await partOf('limits')).toMatchObject({ facts: { refused: 5 } })
})

function isLike(part: OperatedPart | undefined, { ...expected }: object): boolean {
  return Object.entries(expected).every(([name, value]) =>
    isDeepStrictEqual(part?.[name as keyof OperatedPart], value),
  )
}
