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

/** Kysely's dialect for PostgreSQL's SQL, with `driver` as its driver. */
export function openKysely(driver: Driver): Db {
  return new Kysely({ dialect: new GuardedDialect(driver) })
}

class GuardedDialect implements Dialect {
  readonly #driver: Driver

  constructor(driver: Driver) {
    this.#driver = driver
  }

  createDriver(): Driver {
    return new GuardedDriver(this.#driver)
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
