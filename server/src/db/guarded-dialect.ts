import {
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
} from 'kysely'
import type { Db } from './engine.ts'
import { GuardedDriver } from './guarded-driver.ts'
import type { WriteRefusals } from './write-refusals.ts'

/** Kysely's dialect for PostgreSQL's SQL, with `driver` as its driver. */
export function openKysely(driver: Driver, refusals: WriteRefusals): Db {
  return new Kysely({ dialect: new GuardedDialect(driver, refusals) })
}

class GuardedDialect implements Dialect {
  readonly #driver: Driver
  readonly #refusals: WriteRefusals

  constructor(driver: Driver, refusals: WriteRefusals) {
    this.#driver = driver
    this.#refusals = refusals
  }

  createDriver(): Driver {
    return new GuardedDriver(this.#driver, this.#refusals)
  }

  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler()
  }

  createAdapter(): DialectAdapter {
    return new PostgresAdapter()
  }

  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db)
  }
}
