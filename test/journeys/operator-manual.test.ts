import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { saveEvent } from '@landpass/server/attendance/events/event-queries'
import { openEngine } from '@landpass/server/db/open-engine'
import { emptyDir, freshDatabaseUrl, TEST_SETTINGS } from '@landpass/server/test/support/database/engines'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { expect, test } from 'vitest'

const RADIUS = 10
const [EVENT, PLAYER] = [2_000_000_001, '0x00000000000000000000000000000000000000aa']
/** They need an Ethereum node: journeys/follow.test.ts and journeys/chain-check.test.ts run them. */
const OF_THE_CHAIN = ['follow --until finalized', 'chain check']

test('the commands of docs/operate/life.md succeed in their order, on PostgreSQL', async () => {
  const page = readFileSync('docs/operate/life.md', 'utf8')
  const commands = [...page.matchAll(/^ *landpass (.+)$/gm)].map(([, words = '']) => words)
  const [dataDir, exported] = [emptyDir(), join(emptyDir(), 'snapshot')]
  const env = {
    DATA_DIR: dataDir,
    DATABASE_URL: await freshDatabaseUrl(),
    WORLD: `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`,
  }
  const snapshot = await demoSnapshot(1, RADIUS)
  await givenAttendance(env.DATABASE_URL)
  const results = new Map<string, unknown>()

  for (const command of commands.filter((words) => !OF_THE_CHAIN.includes(words))) {
    const folder = command.startsWith('export') ? exported : snapshot
    const { code, stderr, json } = await landpassHere(command.replace('snapshot', folder).split(' '), env)
    expect(code, `${command}: ${stderr}`).toBe(0)
    results.set(command, json[0])
  }

  expect(commands).toEqual(expect.arrayContaining([...OF_THE_CHAIN, 'migrate', 'export snapshot']))
  for (const key of ['attendance.key', 'token.key']) expect(existsSync(join(dataDir, key)), key).toBe(true)
  const removed = { ok: true, rows: { attendance_event: 1 } }
  expect(results.get(`remove event ${EVENT} --dry-run`)).toMatchObject({ ...removed, dry_run: true })
  expect(results.get(`remove event ${EVENT}`)).toMatchObject({ ...removed, dry_run: false })
  expect(results.get(`remove player ${PLAYER}`)).toMatchObject({ rows: { claim: 1 }, kept: [] })
  expect(readFileSync(join(exported, 'manifest.json'), 'utf8')).toContain('parcels')
})

/** The event that the manual deletes, and a claim of its player at one that is over. */
async function givenAttendance(databaseUrl: string): Promise<void> {
  const engine = await openEngine({ ...TEST_SETTINGS, mode: 'own', databaseUrl })
  const event = { record: {}, coordinates: '0,0', expiresAtMs: 0, nowMs: 0 }
  for (const eventId of [EVENT, 7]) await saveEvent(engine.db, { ...event, eventId })
  const claim = { event_id: 7, address: PLAYER, state: 'failed' as const }
  await engine.db
    .insertInto('claim')
    .values({ ...claim, attempts: 1, created_at_ms: 0, updated_at_ms: 0 })
    .execute()
  await engine.close()
}
