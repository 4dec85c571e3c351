import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Environment, FixedLimits } from '../../../src/config/config.ts'
import type { Engine } from '../../../src/db/engine.ts'
import { emptyDir, type OpenEngine } from '../database/engines.ts'
import { type TestClock, testClock } from '../http/land-server.ts'
import {
  type AttendanceServer,
  type OutsideWorld,
  startAttendance,
  startOutsideWorld,
} from './attendance-server.ts'

/** What journeys of attendance stand on. Its parts are there while tests and later hooks run. */
export interface AttendanceStage {
  /** Issuer and presence service, as programs of their own. */
  readonly outside: OutsideWorld
  readonly engine: Engine
  readonly clock: TestClock
  readonly server: AttendanceServer
  /** Another server on the same database; it is closed at the end, if the test has not closed it. */
  startAnother(env?: Environment, limits?: Partial<FixedLimits>): Promise<AttendanceServer>
}

export interface StageOptions {
  /** Of both servers. */
  readonly env?: Environment
  /** Of the first server alone. */
  readonly ownLimits?: Partial<FixedLimits>
  /** The outside world of the whole file; left out, the stage starts one. */
  readonly outside?: () => OutsideWorld
  /** Fills the database before the server starts. */
  prepare?(engine: Engine, clock: TestClock): Promise<void>
}

type Parts = Pick<AttendanceStage, 'outside' | 'engine' | 'clock' | 'server'>

/** Starts a server before the tests, and closes all of the stage's servers after them. Call it where `beforeAll` may be called. */
export function attendanceStage(open: OpenEngine, options: StageOptions = {}): AttendanceStage {
  const { env, ownLimits, prepare } = options
  const servers: AttendanceServer[] = []
  let parts: Parts | undefined
  const get = (): Parts => {
    if (!parts) throw new Error('The stage is there from the first test on.')
    return parts
  }
  const start = async (
    { engine, clock, outside }: Omit<Parts, 'server'>,
    settings: Environment,
    limits: Partial<FixedLimits> | undefined,
  ) => {
    const started = await startAttendance(engine, clock, outside, settings, limits)
    let closed: Promise<void> | undefined
    const close = () => {
      closed ??= started.close()
      return closed
    }
    const server = { ...started, close }
    servers.push(server)
    return server
  }
  beforeAll(async () => {
    const clock = testClock()
    const [outside, engine] = await Promise.all([options.outside?.() ?? startOutsideWorld(), open()])
    await prepare?.(engine, clock)
    const on = { outside, engine, clock }
    parts = { ...on, server: await start(on, { ...env }, ownLimits) }
  })
  afterAll(async () => {
    await Promise.all(servers.map((one) => one.close()))
  })
  return {
    get outside() {
      return get().outside
    },
    get engine() {
      return get().engine
    },
    get clock() {
      return get().clock
    },
    get server() {
      return get().server
    },
    startAnother: (more, limits) => start(get(), { ...env, ...more }, limits),
  }
}

/** Settings of a server that makes events itself, with a file of keys of its own. */
export function makesEvents(makers: 'anyone' | 'approved' = 'anyone') {
  return {
    TOKEN_KEY_FILE: join(emptyDir(), 'token.key'),
    EVENT_MAKERS: makers,
    LIMIT_EVENTS_PER_MINUTE: '0',
  } as const
}
