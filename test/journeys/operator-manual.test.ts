import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { saveEvent } from '@landpass/server/attendance/events/event-queries'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { openEngine } from '@landpass/server/db/open-engine'
import { attendanceDump } from '@landpass/server/test/support/attendance/attendance-rows'
import {
  emptyDir,
  freshDatabaseUrl,
  freshDataDir,
  TEST_SETTINGS,
} from '@landpass/server/test/support/database/engines'
import { startPostgres } from '@landpass/server/test/support/database/postgres'
import { startLandServer } from '@landpass/server/test/support/http/land-server'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { expect, onTestFinished, test } from 'vitest'

const RADIUS = 10
const WORLD = `-${RADIUS},-${RADIUS},${RADIUS},${RADIUS}`
const DEBIAN = '/usr/lib/postgresql'
/** A PostgreSQL with pg_dump, which the PostgreSQL of the tests lacks: the folder where Debian has the newest one. */
const [PROGRAMS] = debianVersions()
  .map((version) => join(DEBIAN, version, 'bin'))
  .filter((bin) => existsSync(join(bin, 'initdb')))
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
    WORLD,
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
  const removed = { ok: true, rows: { attendance_event: 1, token: 1 } }
  expect(results.get(`remove event ${EVENT} --dry-run`)).toMatchObject({ ...removed, dry_run: true })
  expect(results.get(`remove event ${EVENT}`)).toMatchObject({ ...removed, dry_run: false })
  expect(results.get(`remove player ${PLAYER}`)).toMatchObject({ rows: { claim: 1 }, kept: [] })
  expect(readFileSync(join(exported, 'manifest.json'), 'utf8')).toContain('parcels')
})

test('a server of the land fills its own database from a copy, as docs/operate/growing.md says, and has the same land', async () => {
  const page = readFileSync('docs/operate/growing.md', 'utf8')
  const commands = [...page.matchAll(/^landpass (.+)$/gm)].map(([, words = '']) => words)
  const written = /```\n(rm -rf snapshot\.new\n.*?)```/s.exec(page)?.[1]?.trim().split('\n') ?? []
  const original = { DATA_DIR: emptyDir(), DATABASE_URL: await freshDatabaseUrl(), WORLD }
  const copy = { DATA_DIR: await freshDataDir(), WORLD }
  const folder = emptyDir()
  const run = async (command: string, named: string, env: Record<string, string>) => {
    const { code, stderr } = await landpassHere(command.replace('snapshot', named).split(' '), env)
    expect(code, `${command}: ${stderr}`).toBe(0)
  }
  await run('import snapshot', await demoSnapshot(2, RADIUS), original)

  for (let time = 1; time <= 2; time++) {
    for (const line of written) {
      const there = join(folder, 'copy')
      if (line.startsWith('landpass ')) await run(line.slice(9), there, original)
      else expect(spawnSync('sh', ['-c', line.replaceAll('snapshot', there)]).status, line).toBe(0)
    }
    await run('import snapshot', join(folder, 'copy'), copy)
  }
  await run('export snapshot', join(folder, 'of-the-copy'), copy)

  expect(commands).toEqual(['export snapshot.new', 'import snapshot', 'serve --only land'])
  const filesOf = (name: string) =>
    JSON.parse(readFileSync(join(folder, name, 'manifest.json'), 'utf8')).files as object
  expect(Object.keys(filesOf('copy')).length).toBeGreaterThan(6)
  expect(filesOf('of-the-copy')).toEqual(filesOf('copy'))
})

test.skipIf(!PROGRAMS)(
  'the commands of docs/operate/database.md fill a database, dump it, and restore it with another lineage',
  async () => {
    const postgres = await startPostgres({}, PROGRAMS)
    onTestFinished(() => postgres.stop())
    const { hostname: PGHOST, port: PGPORT, username: PGUSER } = new URL(postgres.url)
    const folder = emptyDir()
    const env: Record<string, string> & { DATABASE_URL: string } = {
      WORLD,
      DATA_DIR: folder,
      DATABASE_URL: '',
      PGHOST,
      PGPORT,
      PGUSER,
      PATH: `${PROGRAMS}:/bin`,
    }
    const page = readFileSync('docs/operate/database.md', 'utf8')
    const [fill = '', dump = ''] = [...page.matchAll(/^```\n([^`]*^createdb [^`]*)^```$/gm)].map(
      ([, block]) => block,
    )
    const runAll = async (block: string) => {
      let held: Held | undefined
      for (const line of block.split('\n').filter((text) => text !== '')) {
        const words = /^npm run landpass -- (.*)/
          .exec(line)?.[1]
          ?.replace('<folder>', await demoSnapshot(1, RADIUS))
        const url = /^export DATABASE_URL=(.*)/.exec(line)?.[1]
        if (url !== undefined)
          env.DATABASE_URL = postgres.url.replace(/[^/]*$/, new URL(url).pathname.slice(1))
        else if (words === 'serve') held = await heldBy(env)
        else if (words !== undefined)
          expect(await landpassHere(words.split(' '), env), line).toMatchObject({ code: 0 })
        else
          expect(spawnSync('sh', ['-c', line], { cwd: folder, env, encoding: 'utf8' }), line).toMatchObject({
            status: 0,
          })
      }
      return held!
    }

    const empty = await runAll(fill)
    await givenAttendance(env.DATABASE_URL)
    const original = await heldBy(env)
    const restored = await runAll(dump)

    expect(empty.attendance).not.toBe(original.attendance)
    expect({ ...restored, etag: '' }).toEqual({ ...original, etag: '' })
    expect(restored.etag).not.toBe(original.etag)

    env.DATABASE_URL = postgres.url.replace(/[^/]*$/, 'landpass')
    expect(await landpassHere(['remove', 'event', String(EVENT)], env)).toMatchObject({ code: 0 })
    expect((await heldBy(env)).attendance).toContain('removed_revocation')
    const life = readFileSync('docs/operate/life.md', 'utf8')
    const [, copyEvent = ''] = /^```\n([^`]*^for table in [^`]*)^```$/m.exec(life) ?? []
    expect(spawnSync('sh', ['-ec', copyEvent], { env, encoding: 'utf8' })).toMatchObject({ status: 0 })
    const again = (await heldBy(env)).attendance
    expect(rowsBesideLog(again)).toEqual(rowsBesideLog(original.attendance))
    expect(again).toMatch(/^token_log /m)
  },
)

function debianVersions(): readonly string[] {
  return existsSync(DEBIAN) ? readdirSync(DEBIAN).sort().reverse() : []
}

/** The rows of a dump, as if the log had noted all tokens. */
function rowsBesideLog(dump: string): readonly string[] {
  const rows = dump.split('\n').filter((row) => !row.startsWith('token_log '))
  return rows.map((row) => row.replace('"is_logged": false', '"is_logged": true')).sort()
}

interface Held {
  readonly parcel: string
  readonly etag: string | null
  readonly attendance: string
}

/** What a server on a database answers, and what the database has of attendance. */
async function heldBy({ DATABASE_URL: databaseUrl }: { readonly DATABASE_URL: string }): Promise<Held> {
  const engine = await openEngine({ ...TEST_SETTINGS, databaseUrl })
  const server = await startLandServer(engine, SYSTEM_CLOCK, { WORLD, DATA_DIR: emptyDir() })
  const { text, headers } = await server.get('/v1/parcels/1/2')
  const attendance = await attendanceDump(engine.db)
  await server.close()
  await engine.close()
  return { parcel: text, etag: headers.get('etag'), attendance }
}

/** The event that the manual deletes, with a revoked token, and a claim of its player at one that is over. */
async function givenAttendance(databaseUrl: string): Promise<void> {
  const engine = await openEngine({ ...TEST_SETTINGS, mode: 'own', databaseUrl })
  const event = { record: {}, coordinates: '0,0', expiresAtMs: 0, nowMs: 0 }
  for (const eventId of [EVENT, 7]) await saveEvent(engine.db, { ...event, eventId })
  const claim = { event_id: 7, address: PLAYER, state: 'failed' as const }
  await engine.db
    .insertInto('claim')
    .values({ ...claim, attempts: 1, created_at_ms: 0, updated_at_ms: 0 })
    .execute()
  const ids = {
    id: '0d4f0f0a-8d1c-4a55-9a43-9f6c7b1f2a33',
    signer: PLAYER,
    event_name: '',
    event_location: '',
  }
  const bytes = { salt: Buffer.alloc(32), uid: Buffer.alloc(32), signature: Buffer.alloc(65) }
  const revoked = { revoked_at_s: 0, revoked_reason: '', is_logged: false }
  const token = { event_id: EVENT, address: PLAYER.replace('aa', 'bb'), number: 1, time_s: 0 }
  await engine.db
    .insertInto('token')
    .values({ ...token, ...ids, ...bytes, ...revoked })
    .execute()
  await engine.close()
}
