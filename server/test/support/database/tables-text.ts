import { sql } from 'kysely'
import type { Db } from '../../../src/db/engine.ts'

/**
 * What the migrations come to, as text: every table with its columns, constraints, indexes and triggers, then functions and
 * sequences. `db/tables.txt` is this text, and a test compares it with both engines.
 */
export async function tablesText(db: Db): Promise<string> {
  const { rows } = await sql<{ text: string }>`
    select string_agg(concat_ws(e'\n  ', heading, lines), e'\n\n' order by kind, heading) || e'\n' as text from (
      select 1 as kind, concat_ws(' ', 'table', relname, 'partition by ' || pg_get_partkeydef(oid), reloptions::text) as heading,
        concat_ws(e'\n  ', (
          select string_agg(concat_ws(' ', attname, format_type(atttypid, atttypmod), case when attnotnull then 'not null' end,
            case attidentity when 'a' then 'identity' end, 'default ' || pg_get_expr(adbin, adrelid)), e'\n  ' order by attnum)
          from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped
        ), (
          select string_agg(conname || ': ' || pg_get_constraintdef(oid), e'\n  ' order by contype desc, conname)
          from pg_constraint where conrelid = pg_class.oid and contype in ('p', 'u', 'f', 'c')
        ), (
          select string_agg(pg_get_indexdef(indexrelid), e'\n  ' order by pg_get_indexdef(indexrelid)) from pg_index
          where indrelid = pg_class.oid and not exists (select from pg_constraint where conindid = indexrelid)
        ), (
          select string_agg(pg_get_triggerdef(oid), e'\n  ' order by tgname) from pg_trigger
          where tgrelid = pg_class.oid and not tgisinternal
        )) as lines
      from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname not like 'kysely%'
      union all
      select 2, 'function ' || proname, pg_get_functiondef(oid) from pg_proc
      where pronamespace = 'public'::regnamespace and prokind = 'f'
      union all
      select 3, 'sequence ' || sequencename, format('from %s to %s', start_value, max_value) from pg_sequences
      where schemaname = 'public' and not exists (
        select from pg_depend where objid = format('public.%I', sequencename)::regclass and deptype = 'i'
      )
    ) as thing`.execute(db)
  return rows[0]!.text
}
