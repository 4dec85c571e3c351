import { readFileSync } from 'node:fs'
import { HOUR_MS } from '@landpass/server/clock'
import { startBaseline } from '@landpass/server/test/support/processes/measured-processes'
import pg from 'pg'
import { type Call, jsonCall } from './attendance/calls.ts'
import { bytesOf, type ClaimLoad, loadClaims } from './attendance/claim-load.ts'
import { type BenchEvent, type Rig, withRig } from './attendance/rig.ts'
import { type Script, sized } from './script.ts'

const CLAIMS = 1_000_000
/** A claim of the event was made in each hour of the week that a report shows. */
const HOURS = 168
/** Connections of the servers that made the claims: each has counts of its own. */
const STRIPES = 16
const SECONDS = 3
/** Of booths, which request availability at the same time; an organiser's page has one. */
const CONNECTIONS = 16
/** How much more than a bare answer of 2 kB a request may cost, in CPU time and in time. */
const MOST = 20

export const largeEvent: Script = {
  about: '/availability and /report of an event with 1,000,000 claims cost at most 20 bare answers of 2 kB',
  run: async ({ engine, scale }, verdict) => {
    if (engine !== 'postgres') throw new Error('this script needs PostgreSQL')
    const claims = sized(CLAIMS, scale)
    const baseline = await startBaseline()
    try {
      await withRig({ engine, processes: 1 }, async (rig) => {
        const event = await rig.newEvent(10)
        await fill(rig, event, claims)
        const availability = { method: 'GET', path: `/event/${event.uuid}/availability`, headers: {} }
        const bareWith = (connections: number) =>
          measure(baseline.origin, [baseline.child.pid!], availability, connections)
        const pids = () => [rig.pidOf(0)!, ...processesBelow(rig.postgres!.pid)]
        const cost = async (name: string, call: Call, connections: number): Promise<Cost> => {
          const found = await measure(rig.originOf(0), pids(), call, connections)
          console.log(`${name}: ${shown(found)}`)
          return found
        }
        const expectFew = (name: string, { cpuUs, timeUs }: Cost, bare: Cost) => {
          const [cpu, time] = [cpuUs / bare.cpuUs, timeUs / bare.timeUs]
          console.log(
            `${name}: ${cpu.toFixed(1)} times the CPU time and ${time.toFixed(1)} times the time of a bare answer, ` +
              `${shown(bare)}`,
          )
          verdict.expect(cpu <= MOST, `${name}: ${cpu.toFixed(1)} times the CPU time of a bare answer`)
          verdict.expect(time <= MOST, `${name}: ${time.toFixed(1)} times the time of a bare answer`)
        }
        const read = await cost('availability', availability, CONNECTIONS)
        expectFew('availability', read, await bareWith(CONNECTIONS))
        // Each report is preceded by a check of the edit code at the issuer, which does not depend on the claims
        const small = await rig.newEvent(1)
        const checked = await cost('report of an event without claims', reportOf(small), 1)
        const whole = await cost('report', reportOf(event), 1)
        const beyond = { cpuUs: whole.cpuUs - checked.cpuUs, timeUs: whole.timeUs - checked.timeUs }
        expectFew('report, beyond that of an event without claims', beyond, await bareWith(1))
      })
    } finally {
      await baseline.stop()
    }
  },
}

function reportOf({ uuid, editCode }: BenchEvent): Call {
  return jsonCall('POST', `/event/${uuid}/report`, { editCode })
}

/** Writes claims with their codes by SQL, spread over the hours and over the counts of several connections. */
async function fill({ postgres }: Rig, { id }: BenchEvent, claims: number): Promise<void> {
  const startedMs = performance.now()
  for (let stripe = 0; stripe < STRIPES; stripe++) {
    const client = new pg.Client({ connectionString: postgres!.url })
    await client.connect()
    const [from, to] = [stripe, stripe + 1].map((n) => Math.floor((claims * n) / STRIPES) + 1)
    await client.query(
      `with code as (
         insert into claim_code (event_id, fingerprint, encrypted, state, created_at_ms)
         select $1::integer, sha256(n::text::bytea), sha256(n::text::bytea), 'used', 0 from generate_series($2::bigint, $3::bigint - 1) as n
         returning id
       ), made as (
         insert into claim (event_id, address, code_id, state, attempts, created_at_ms, updated_at_ms)
         select $1, '0x' || id, id, 'minted', 0, $4::bigint - id % $5 * $6::bigint, 0 from code
         returning created_at_ms / $6::bigint * $6::bigint as hour_ms
       )
       insert into event_count (event_id, hour_ms, stripe, used, minted)
       select $1, coalesce(hour_ms, -1), $7::integer, case when hour_ms is null then count(*) else 0 end, count(*)
       from made group by grouping sets ((), (hour_ms))`,
      [id, from, to, Date.now(), HOURS, HOUR_MS, stripe],
    )
    if (stripe === STRIPES - 1) {
      await showCounting(client, id)
      // Or PostgreSQL would do this during the measurement
      await client.query('vacuum analyze')
      await client.query('checkpoint')
    }
    await client.end()
  }
  console.log(`made in ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
}

/** For comparison: what each request for availability and each report would take without the counts. */
async function showCounting(client: pg.Client, id: number): Promise<void> {
  for (const statement of [
    'select state, count(*) from claim_code where event_id = $1 group by state',
    'select created_at_ms / 3600000, state, count(*) from claim where event_id = $1 group by 1, 2',
  ]) {
    const startedMs = performance.now()
    await client.query(statement, [id])
    console.log(`${(performance.now() - startedMs).toFixed(0)} ms: ${statement}`)
  }
}

interface Cost {
  /** Of all given processes, for each request. */
  readonly cpuUs: number
  /** The median. */
  readonly timeUs: number
}

async function measure(
  origin: string,
  pids: readonly number[],
  call: Call,
  connections: number,
): Promise<Cost> {
  const load = (seconds: number): Promise<ClaimLoad> =>
    loadClaims(origin, [bytesOf(call)], { connections, seconds })
  await load(1)
  const before = cpuMsOf(pids)
  const { answers, p50Ms, unexpected } = await load(SECONDS)
  if (unexpected.length > 0) throw new Error(`${call.path}: ${unexpected[0]}`)
  const usedMs = [...cpuMsOf(pids)].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0)
  return { cpuUs: (usedMs * 1000) / answers, timeUs: p50Ms * 1000 }
}

function shown({ cpuUs, timeUs }: Cost): string {
  return `${cpuUs.toFixed(0)} µs of CPU time, ${(timeUs / 1000).toFixed(2)} ms`
}

/**
 * CPU time of processes so far, in milliseconds. One that has ended is left out: a worker of PostgreSQL that vacuumed.
 * Linux only: /proc counts in hundredths of a second.
 */
function cpuMsOf(pids: readonly number[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>()
  for (const pid of pids) {
    try {
      const fields = statOf(pid)
      found.set(pid, (Number(fields[11]) + Number(fields[12])) * 10)
    } catch {
      // It has ended since the list was made.
    }
  }
  return found
}

/** The fields of /proc/<pid>/stat after the name, which can have spaces. */
function statOf(pid: number): string[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function processesBelow(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return children.split(' ').filter(Boolean).map(Number)
}
