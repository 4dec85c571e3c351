import type { FastifyInstance, FastifyReply } from 'fastify'
import Type from 'typebox'
import { withTimeLimit } from '../clock.ts'
import { AppError, type ErrorCode } from '../errors.ts'
import { VERSION } from '../version.ts'
import type { Metrics } from './metrics.ts'
import { okSchema, streamSchema } from './schemas.ts'
import type { Stopping } from './stopping.ts'

/** Resolves if the server can answer requests. @throws {AppError} that names what is missing */
export type ReadinessCheck = () => Promise<Readonly<Record<string, unknown>>>

/** What `/health/ready` and its parts check; a part that is not served is left out, and its address is none. */
export interface ReadinessChecks {
  /** Everything that is served. */
  readonly all: ReadinessCheck
  readonly land?: ReadinessCheck
  readonly attendance?: ReadinessCheck
}

export interface HealthOptions {
  readonly checks: ReadinessChecks
  readonly stopping: Stopping
}

const LIVE = Type.Object({
  status: Type.Literal('live'),
  version: Type.String({ description: 'The version of Landpass, as `landpass --version` prints it.' }),
})

/** A balancer must hear within 2 s, also while all connections to the database hang. */
export const CHECK_TIMEOUT_MS = 1_500

export function healthRoutes(app: FastifyInstance, { checks, stopping }: HealthOptions): void {
  app.get(
    '/health/live',
    {
      config: { cost: 0 },
      schema: {
        tags: ['operation'],
        operationId: 'live',
        summary: 'Is the process alive?',
        responses: okSchema(LIVE),
      },
    },
    (_request, reply) =>
      reply
        .header('cache-control', 'no-store')
        .send({ ok: true, data: { status: 'live', version: VERSION } }),
  )
  const ready = (path: string, check: ReadinessCheck, words: ReadyWords) => {
    const boundedCheck = within(CHECK_TIMEOUT_MS, check)
    app.get(
      path,
      {
        config: { cost: 0 },
        schema: {
          tags: ['operation'],
          operationId: words.operationId,
          summary: words.summary,
          responses: okSchema(
            Type.Object({ status: Type.Literal('ready') }, { additionalProperties: true }),
            words.errors,
          ),
        },
      },
      async (_request, reply) => {
        assertNotStopping(stopping)
        const facts = await boundedCheck()
        return reply
          .header('cache-control', 'no-store')
          .send({ ok: true, data: { status: 'ready', ...facts } })
      },
    )
  }
  ready('/health/ready', checks.all, {
    operationId: 'ready',
    summary: 'Can it answer? 503 until the migrations ran, the world is loaded and the database answers',
    errors: [
      'world_not_loaded',
      'database_unavailable',
      'database_read_only',
      'database_full',
      'server_stopping',
    ],
  })
  if (checks.land) {
    ready('/health/ready/land', checks.land, {
      operationId: 'readyLand',
      summary: 'Can it answer what it holds in memory of the land? Does not need the database',
      errors: ['world_not_loaded', 'server_stopping'],
    })
    newerHealthRoutes(app, { check: within(CHECK_TIMEOUT_MS, checks.land), stopping })
  }
  if (checks.attendance) {
    ready('/health/ready/attendance', checks.attendance, {
      operationId: 'readyAttendance',
      summary: 'Can it register events and accept claims? Needs the database, and no world',
      errors: [
        'attendance_not_configured',
        'database_unavailable',
        'database_read_only',
        'database_full',
        'server_stopping',
      ],
    })
  }
}

/** `/v2/ping` and `/v2/ready`, which programs know from the public atlas server: as text. */
function newerHealthRoutes(
  app: FastifyInstance,
  { check, stopping }: { readonly check: ReadinessCheck; readonly stopping: Stopping },
): void {
  const schemaOf = (operationId: string, summary: string, errors: readonly ErrorCode[]) => ({
    tags: ['operation'],
    operationId,
    summary,
    responses: streamSchema('text/plain', { description: 'ok', body: Type.Literal('ok') }, errors),
  })
  const sayOk = (reply: FastifyReply) =>
    reply.header('cache-control', 'no-store').type('text/plain').send('ok')

  app.get('/v2/ping', { schema: schemaOf('live', 'Is the process alive? As text', []) }, (_request, reply) =>
    sayOk(reply),
  )
  app.get(
    '/v2/ready',
    { schema: schemaOf('ready', 'Is the world loaded? As text', ['world_not_loaded', 'server_stopping']) },
    async (_request, reply) => {
      assertNotStopping(stopping)
      await check()
      return sayOk(reply)
    },
  )
}

/** @throws {AppError} `server_stopping` */
function assertNotStopping(stopping: Stopping): void {
  if (stopping.isBegun) throw new AppError('server_stopping', 'This process is about to stop.')
}

/** What a scrape costs, in units of one parcel read. */
export const SCRAPE_UNITS = 10

/** `GET /metrics`, at another path where a setting says so. */
export function metricsRoute(app: FastifyInstance, metrics: Metrics, path: string): void {
  app.get(
    path,
    {
      config: { cost: SCRAPE_UNITS },
      schema: {
        tags: ['operation'],
        operationId: 'metrics',
        summary: 'Figures in the text format of Prometheus',
        responses: streamSchema('text/plain', { description: 'Figures.', body: Type.String() }, [
          'too_many_requests',
        ]),
      },
    },
    async (_request, reply) => {
      const text = await metrics.text()
      return reply.header('cache-control', 'no-store').type(metrics.registry.contentType).send(text)
    },
  )
}

interface ReadyWords {
  readonly operationId: string
  readonly summary: string
  readonly errors: readonly ErrorCode[]
}

/**
 * The check with an end: after `timeoutMs` it fails with `database_unavailable`, the only thing that a check waits for.
 * While one check runs, all requests wait for the same one, so that a hanging database does not collect them.
 */
export function within(timeoutMs: number, check: ReadinessCheck): ReadinessCheck {
  let running: ReturnType<ReadinessCheck> | undefined
  return async () => {
    running ??= check().finally(() => {
      running = undefined
    })
    return withTimeLimit(running, timeoutMs, () => {
      throw new AppError('database_unavailable', 'The database does not answer.')
    })
  }
}
