import { MIGRATIONS, migrate } from '@landpass/server/db/migrate'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { playerAt } from '@landpass/server/test/support/attendance/attendance-server'
import { attendanceStage, makesEvents } from '@landpass/server/test/support/attendance/attendance-stage'
import { freshDatabaseUrl, freshEngine } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS } from '@landpass/server/test/support/http/land-server'
import { applyLandChanges } from '@landpass/server/test/support/land/land-changes'
import { TINY_WORLD, tinySnapshot } from '@landpass/server/test/support/land/tiny-world'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { type Migration, sql } from 'kysely'
import { describe, expect, test } from 'vitest'

const EVENT_DAY = new Date(REFERENCE_TIME_MS).toISOString().slice(0, 10)
const LAND_PATHS = [
  '/v1/parcels/0/0',
  '/v1/parcels/0/0/bids',
  '/v1/parcels/0/0/publications',
  '/v1/estates/1',
  '/v2/land',
  '/v2/sales',
  '/v2/tiles',
]

/** What a release may add: a column that takes null in every table, and a table. */
const ADDITIONS: Migration = {
  up: async (db) => {
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not relispartition and relname not like 'kysely%'`.execute(db)
    for (const { name } of rows)
      await sql`alter table ${sql.table(name)} add column of_next_release text`.execute(db)
    await sql`create table of_next_release (id integer primary key)`.execute(db)
  },
}

describe('a server whose tables the next release brings up to date', () => {
  const databaseUrl = freshDatabaseUrl()
  const open = freshEngine('postgres')
  const stage = attendanceStage(async () => open({ databaseUrl: await databaseUrl }), {
    env: { ...makesEvents(), WORLD: '-2,-2,2,2' },
    prepare: async ({ db }, clock) => {
      await importSnapshot(db, tinySnapshot(), { world: TINY_WORLD, clock, dryRun: false })
    },
  })

  test('goes on, with claims and changes of the land; it does not start again, and says why', async () => {
    const { engine, clock, server, outside } = stage
    const event = { name: 'Lights', coordinates: '1,1', start_date: EVENT_DAY, tokens: 20 }
    const made = await server.send('POST', '/events', event)
    const { uuid } = (made.body.data as { event: { uuid: string } }).event
    const editCode = (made.body.data as { edit_code: string }).edit_code
    const claim = async (name: string) => {
      const player = await playerAt(outside, name, { x: 1, y: 1 }, clock.nowMs())
      return (await server.claim(uuid, player)).status
    }
    const readAll = async () => {
      const paths = [...LAND_PATHS, '/health/ready', `/event/${uuid}`, `/events/${uuid}/holders`]
      const statuses = await Promise.all(paths.map(async (path) => [path, (await server.get(path)).status]))
      const report = await server.send('POST', `/event/${uuid}/report`, { editCode })
      return Object.fromEntries([...statuses, ['report', report.status]])
    }
    const asBefore = await readAll()
    expect(await claim('before')).toBe(200)

    const next = { ...MIGRATIONS, '9999-next-release': ADDITIONS }
    const during = Array.from({ length: 8 }, (_, n) => claim(`during ${n}`))
    expect(await migrate(engine, next)).toEqual(['9999-next-release'])
    expect(await Promise.all(during)).toEqual(during.map(() => 200))

    expect(await claim('afterwards')).toBe(200)
    const to = { name: 'Still here' }
    await applyLandChanges(engine.db, [{ kind: 'change-parcel', x: 0, y: 0, to }], clock.nowMs())
    await server.app.keeper.refresh()
    expect((await server.get('/v1/parcels/0/0')).text).toContain('Still here')
    expect(await readAll()).toEqual(asBefore)
    expect(new Set(Object.values(asBefore))).toEqual(new Set([200]))

    const { code, stderr } = await landpassHere(['migrate'], { DATABASE_URL: await databaseUrl })
    expect(code).toBe(1)
    expect(stderr).toContain('migrated by a newer version of the server (9999-next-release)')
  })
})
