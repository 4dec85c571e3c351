import { type Kysely, sql } from 'kysely'

/**
 * Where the database is (land/changes/lineage.ts), and how many codes and claims of each event are in each state.
 *
 * Triggers keep the counts, so that processes of the version before this one keep them too. Each connection changes
 * rows of its own (`stripe`), or hundreds of claims in one second would wait for each other's commits. The row with
 * `hour_ms` -1 has the totals; it is changed before those of the hours, in the order of the events. So two statements
 * on connections with the same stripe never wait for each other in a circle.
 */
export async function up(db: Kysely<never>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

/** The columns of `event_count`: how many rows of a table are in each state. */
const CODE_STATES = ['free', 'held', 'used', 'used_elsewhere', 'void']
const CLAIM_STATES = ['reserved', 'minting', 'minted', 'failed', 'released']
const COUNTS = [...CODE_STATES, ...CLAIM_STATES]

const sumOf = (states: readonly string[]) =>
  states.map((state) => `coalesce(sum(change) filter (where state = '${state}'), 0)`).join(', ')
const isChanged = (states: readonly string[]) =>
  states.map((state) => `coalesce(sum(change) filter (where state = '${state}'), 0) <> 0`).join(' or ')
const addTo = (states: readonly string[]) =>
  states.map((state) => `${state} = event_count.${state} + excluded.${state}`).join(', ')

/** Adds the changes of a query with the columns `event_id`, `state` and `change` (1 or -1) to the totals. */
const addCodes = (changes: string) => `
  insert into event_count (event_id, hour_ms, stripe, ${CODE_STATES.join(', ')})
  select event_id, -1, pg_backend_pid() % 16, ${sumOf(CODE_STATES)} from (${changes}) as changed
  group by event_id having ${isChanged(CODE_STATES)} order by event_id
  on conflict (event_id, hour_ms, stripe) do update set ${addTo(CODE_STATES)};`

/** The same for claims, whose query also has `hour_ms`: adds to the totals, and to the hours in which they were made. */
const addClaims = (changes: string) => `
  insert into event_count (event_id, hour_ms, stripe, ${CLAIM_STATES.join(', ')})
  select event_id, coalesce(hour_ms, -1) as hour, pg_backend_pid() % 16, ${sumOf(CLAIM_STATES)}
  from (${changes}) as changed
  group by grouping sets ((event_id), (event_id, hour_ms)) having ${isChanged(CLAIM_STATES)} order by event_id, hour
  on conflict (event_id, hour_ms, stripe) do update set ${addTo(CLAIM_STATES)};`

const codesOf = (rows: string, change: number) => `select event_id, state, ${change} as change from ${rows}`
const claimsOf = (rows: string, change: number) =>
  `select event_id, created_at_ms / 3600000 * 3600000 as hour_ms, state, ${change} as change from ${rows}`

/** A function for triggers, and a trigger for each kind of statement: PostgreSQL wants them apart. */
function countWithTriggers(
  table: string,
  add: (changes: string) => string,
  rowsOf: (rows: string, change: number) => string,
): string[] {
  const [before, after] = [rowsOf('before', -1), rowsOf('after', 1)]
  return [
    `create function count_${table}() returns trigger language plpgsql as $$
     begin
       case tg_op
         when 'INSERT' then ${add(after)}
         when 'DELETE' then ${add(before)}
         else ${add(`${before} union all ${after}`)}
       end case;
       return null;
     end $$`,
    `create trigger count_inserts after insert on ${table}
       referencing new table as after for each statement execute function count_${table}()`,
    `create trigger count_updates after update on ${table}
       referencing old table as before new table as after for each statement execute function count_${table}()`,
    `create trigger count_deletes after delete on ${table}
       referencing old table as before for each statement execute function count_${table}()`,
  ]
}

const STATEMENTS = [
  // Claims queue behind a lock request that waits: it gives up soon, and migrate.ts tries again.
  `set local lock_timeout = '250ms'`,
  // The strongest locks that the later migrations of the same transaction need, and `claim` first, as claims lock it
  // first. A weaker lock would let a claim begin and wait in the middle, and `alter table claim` would wait for it.
  `lock table claim in access exclusive mode`,
  `lock table claim_code in access exclusive mode`,
  `create table land_location (
    only_row boolean primary key default true check (only_row),
    location jsonb not null,
    folder text
  )`,
  // With the rights of the role that migrated, so that all processes get the same answer. A function that is not
  // allowed there, or does not exist at a provider, leaves its part out.
  `create function database_location(of_table oid) returns jsonb
   language plpgsql stable security definer set search_path = pg_catalog as $$
   declare
     cluster text;
     timeline text;
   begin
     if pg_is_in_recovery() then return null; end if;
     begin
       select system_identifier::text into cluster from pg_control_system();
     exception when others then cluster := null;
     end;
     begin
       timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
     exception when others then timeline := null;
     end;
     return jsonb_build_object(
       'cluster', cluster,
       'timeline', timeline,
       'database', (select oid::bigint from pg_database where datname = current_database()),
       'table', of_table::bigint);
   end $$`,
  // Rows are changed all the time: free space in each page keeps them where they are
  `create table event_count (
    event_id integer not null,
    hour_ms bigint not null,
    stripe integer not null,
    ${COUNTS.map((state) => `${state} bigint not null default 0`).join(',\n    ')},
    primary key (event_id, hour_ms, stripe)
  ) with (fillfactor = 50)`,
  addCodes(codesOf('claim_code', 1)),
  addClaims(claimsOf('claim', 1)),
  ...countWithTriggers('claim_code', addCodes, codesOf),
  ...countWithTriggers('claim', addClaims, claimsOf),
]
