import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { expect, test } from 'vitest'
import type { Db } from '../db/engine.ts'
import { Metrics } from '../http/metrics.ts'
import { AttendanceMetrics } from './attendance-metrics.ts'

/** A database that answers no statement. */
function hangingDb(onStatement: () => void): Db {
  class HangingDriver extends DummyDriver {
    override acquireConnection(): Promise<never> {
      onStatement()
      return new Promise(() => {})
    }
  }
  return new Kysely({
    dialect: {
      createDriver: () => new HangingDriver(),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
}

test('a scrape answers while the database hangs, without figures of it, and asks it once for each of them', async () => {
  let statements = 0
  const metrics = new Metrics({ maxAgeMs: 15_000 })
  new AttendanceMetrics(
    metrics,
    hangingDb(() => statements++),
  ).onClaim('minting')

  const scrapes = await Promise.all([metrics.registry.metrics(), metrics.registry.metrics()])

  for (const text of scrapes) {
    expect(text).toContain('landpass_claims_total{result="minting"} 1')
    expect(text).toContain('# TYPE landpass_held_events gauge')
    expect(text).not.toMatch(/^landpass_(held_events|claim_codes|database_worker_up)/m)
  }
  expect(statements).toBe(3)
})
