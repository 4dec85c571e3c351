import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { describeOnOneEngine } from '../../test/support/database/engines.ts'

/** Tables that have an event and are not cut by it, and why. */
const EXCEPTIONS = {
  attendance_event: 'the events themselves, which stay whole',
  made_event: 'one row for each event, beside it',
  made_event_change: 'one row for each event, beside it',
  captcha: 'of a player, who asks for it before any event is named',
} as const

/** A player claims one event after the other; a database of several machines keeps each event on one of them. */
describeOnOneEngine('tables of attendance', (open) => {
  test('have the event first in each key, and in each reference to another table that is cut by event', async () => {
    const { db } = await open()
    const { rows } = await sql<{ table: string; key: string; kind: string; columns: string[]; to: string }>`
      with cut as (
        select attrelid from pg_attribute join pg_class on pg_class.oid = attrelid
        where attname = 'event_id' and not attisdropped and relkind = 'r' and relnamespace = 'public'::regnamespace
      )
      select indrelid::regclass::text as table, indexrelid::regclass::text as key, 'unique' as kind, '' as to, array(
        select attname::text from unnest(indkey::smallint[]) with ordinality as part (number, place)
        join pg_attribute on attrelid = indrelid and attnum = part.number order by place
      ) as columns
      from pg_index where indisunique and indrelid in (select attrelid from cut)
      union all
      select conrelid::regclass::text, conname, 'reference', confrelid::regclass::text, array(
        select attname::text from unnest(conkey) with ordinality as part (number, place)
        join pg_attribute on attrelid = conrelid and attnum = part.number order by place
      )
      from pg_constraint where contype = 'f'
        and (conrelid in (select attrelid from cut) or confrelid in (select attrelid from cut))`.execute(db)
    const isCut = (table: string) => !(table in EXCEPTIONS)

    const wrong = rows.filter(({ table, columns }) => isCut(table) && columns[0] !== 'event_id')

    expect(wrong).toEqual([])
    // A table that stays whole cannot refer to one that is cut
    expect(rows.filter(({ table, kind, to }) => kind === 'reference' && !isCut(table) && isCut(to))).toEqual(
      [],
    )
    expect(rows.filter(({ table }) => table === 'claim').map(({ key }) => key)).toContain(
      'one_claim_per_address',
    )
    const withRules = new Set(rows.map(({ table }) => table))
    expect(Object.keys(EXCEPTIONS).filter((table) => !withRules.has(table))).toEqual([])
  })

  test('have no triggers: what a statement changes stands in it', async () => {
    const { db } = await open()
    const { rows } = await sql`
      select tgname from pg_trigger join pg_class on pg_class.oid = tgrelid
      where not tgisinternal and relnamespace = 'public'::regnamespace`.execute(db)
    expect(rows).toEqual([])
  })
})
