import type { Socket } from 'node:net'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  RouteOptions,
} from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import type { AppError, ErrorCode } from '../errors.ts'
import type { WorkerGroup } from './worker-group.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The route's answers stay open until the client leaves, so their duration is not measured. */
    readonly isEndless?: boolean
  }
}

/** A metric whose value is read when `/metrics` is requested. */
export interface GaugeSource {
  readonly name: string
  readonly help: string
  readonly labels?: Readonly<Record<string, string>>
  read(): number
}

/** A metric whose value only grows, read when `/metrics` is requested. */
export type CounterSource = Omit<GaugeSource, 'labels'>

/** What a part of the server measures. */
export interface Figures {
  readonly gauges: readonly GaugeSource[]
  readonly counters: readonly CounterSource[]
}

/**
 * A metric with one series for each set of labels, read when `/metrics` is requested. Without any series it has no value,
 * also where it has no labels.
 */
export interface SeriesSource {
  readonly kind: 'counter' | 'gauge'
  readonly name: string
  readonly help: string
  readonly labelNames: readonly string[]
  read(): readonly Series[] | Promise<readonly Series[]>
}

export interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** An answer that was sent. */
export interface SentAnswer {
  /** The group of its route: see {@link groupOf}. */
  readonly group: string
  readonly status: number
  /** Undefined for an answer that stays open, such as a stream. */
  readonly tookMs: number | undefined
  readonly socket: Socket
}

/** What was counted of a group. Counting in metrics of the library would take a fifth of the CPU time of a short answer. */
interface GroupCounts {
  seconds: number
  bytes: number
  /** By the label of the status. */
  readonly answers: Map<string, number>
}

const DURATION_BUCKETS_S = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10]
/** Statuses that have a series of their own; the others are counted as `2xx` to `5xx`. */
const OWN_STATUSES: ReadonlySet<number> = new Set([200, 304, 429, 503])
/** Default metrics of prom-client that need 40 series, and say little about this server. */
const LEFT_OUT = [
  'nodejs_gc_duration_seconds',
  'nodejs_heap_space_size_total_bytes',
  'nodejs_heap_space_size_used_bytes',
  'nodejs_heap_space_size_available_bytes',
  'nodejs_active_resources',
  'nodejs_active_handles',
  'nodejs_active_requests',
]
/** Errors of requests that a limit refused. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'too_many_requests',
  'too_many_guesses',
  'too_many_streams',
  'too_many_large_answers',
])
/** The group of addresses without a tag: pages, aliases of routes, addresses that are no route. */
const OTHER = 'other'

/**
 * The group of routes that a route is counted in: its first tag in openapi.json.
 *
 * @example
 * groupOf({ schema: { tags: ['parcels'] } }) // 'parcels'
 */
export function groupOf({ schema }: { readonly schema?: RouteOptions['schema'] | undefined }): string {
  return schema?.tags?.[0] ?? OTHER
}

/**
 * Collected once: the library watches the event loop with a timer and each collection of garbage, and never stops. A process that
 * starts many servers, one after the other, would watch as often.
 */
let processMetrics: Registry | undefined

function collectProcessMetrics(): Registry {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of LEFT_OUT) {
    registry.removeSingleMetric(name)
    registry.removeSingleMetric(`${name}_total`)
  }
  return registry
}

export interface MetricsOptions {
  /** How old figures that are counted in the database may be, in milliseconds; 0: they are counted at each scrape. */
  readonly maxAgeMs?: number
}

/**
 * All metrics of `/metrics`, about 150 series. Each server has its own, so that two servers in one process do not mix
 * theirs; those of the process are shared.
 */
export class Metrics {
  readonly registry = new Registry()
  readonly maxAgeMs: number
  private readonly duration: Histogram.Internal<string>
  private readonly groups = new Map<string, GroupCounts>()
  private readonly refusals = new Map<string, number>()
  private readonly writtenBefore = new WeakMap<Socket, number>()
  private group: WorkerGroup | undefined

  constructor({ maxAgeMs = 0 }: MetricsOptions = {}) {
    this.maxAgeMs = maxAgeMs
    const registers = [this.registry]
    processMetrics ??= collectProcessMetrics()
    // The library types its own metrics as descriptions of them
    for (const metric of processMetrics.getMetricsAsArray())
      this.registry.registerMetric(metric as unknown as Metric)
    this.duration = new Histogram({
      name: 'landpass_http_request_duration_seconds',
      help: 'Time from the arrival of a request to the end of its answer, of all routes.',
      buckets: DURATION_BUCKETS_S,
      registers,
    }).labels({})
    this.addSeries([
      {
        kind: 'counter',
        name: 'landpass_http_requests_total',
        help: 'Answered requests, by group of routes and status.',
        labelNames: ['group', 'status'],
        read: () =>
          [...this.groups].flatMap(([group, { answers }]) =>
            [...answers].map(([status, value]) => ({ labels: { group, status }, value })),
          ),
      },
      {
        kind: 'counter',
        name: 'landpass_http_request_seconds_total',
        help: 'The sum of these times, by group of routes.',
        labelNames: ['group'],
        read: () => [...this.groups].map(([group, { seconds }]) => ({ labels: { group }, value: seconds })),
      },
      {
        kind: 'counter',
        name: 'landpass_http_response_bytes_total',
        help: 'Bytes written to the network, headers included, by group of routes.',
        labelNames: ['group'],
        read: () => [...this.groups].map(([group, { bytes }]) => ({ labels: { group }, value: bytes })),
      },
      {
        kind: 'counter',
        name: 'landpass_limits_refused_total',
        help: 'Requests that a limit refused, by error code.',
        labelNames: ['code'],
        read: () => [...this.refusals].map(([code, value]) => ({ labels: { code }, value })),
      },
    ])
  }

  /** Makes {@link text} that of all processes that serve together; those of this one get the label `worker`. */
  shareWith(group: WorkerGroup, worker: number): void {
    this.registry.setDefaultLabels({ worker: String(worker) })
    this.group = group
  }

  /** All metrics in the text format of Prometheus. */
  text(): Promise<string> {
    return this.group ? this.group.metrics() : this.registry.metrics()
  }

  addFigures({ gauges, counters }: Figures): void {
    this.addGauges(gauges)
    this.addCounters(counters)
  }

  addGauges(sources: readonly GaugeSource[]): void {
    for (const { name, help, labels = {}, read } of sources) {
      const gauge: Gauge = new Gauge({
        name,
        help,
        labelNames: Object.keys(labels),
        registers: [this.registry],
        collect: (): void => gauge.set(labels, read()),
      })
    }
  }

  addCounters(sources: readonly CounterSource[]): void {
    for (const { name, help, read } of sources) {
      const counter: Counter = new Counter({
        name,
        help,
        registers: [this.registry],
        collect: (): void => {
          counter.reset()
          counter.inc(read())
        },
      })
    }
  }

  addSeries(sources: readonly SeriesSource[]): void {
    for (const { kind, name, help, labelNames, read } of sources) {
      const options = { name, help, labelNames: [...labelNames], registers: [this.registry] }
      if (kind === 'gauge') {
        const gauge: Gauge = new Gauge({
          ...options,
          collect: async (): Promise<void> => {
            const series = await read()
            gauge.reset()
            if (labelNames.length === 0) gauge.remove() // The reset sets it to 0, which is a value
            for (const { labels, value } of series) gauge.set(labels, value)
          },
        })
      } else {
        const counter: Counter = new Counter({
          ...options,
          collect: async (): Promise<void> => {
            const series = await read()
            counter.reset()
            if (labelNames.length === 0) counter.remove()
            for (const { labels, value } of series) counter.inc(labels, value)
          },
        })
      }
    }
  }

  /** Measures every request that the framework answers. */
  watch(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      const route = request.routeOptions
      if (!route.config?.isEndless)
        this.count(request, reply, { group: groupOf(route), tookMs: reply.elapsedTime })
      done()
    })
    app.addHook('onRoute', (route) => {
      if (!route.config?.isEndless) return
      // Most streams are closed by the client: then the hook `onResponse` does not run.
      const countAtClose: onRequestHookHandler = (request, reply, done) => {
        reply.raw.once('close', () =>
          this.count(request, reply, { group: groupOf(route), tookMs: undefined }),
        )
        done()
      }
      route.onRequest = [countAtClose, ...[route.onRequest ?? []].flat()]
    })
  }

  private count(
    request: FastifyRequest,
    reply: FastifyReply,
    facts: Pick<SentAnswer, 'group' | 'tookMs'>,
  ): void {
    const status = reply.raw.statusCode // streams write to the raw response, so `reply.statusCode` is not theirs
    this.countAnswer({ status, socket: request.raw.socket, ...facts })
  }

  countAnswer({ group, status, tookMs, socket }: SentAnswer): void {
    const counts = this.countsOf(group)
    const label = statusLabel(status)
    counts.answers.set(label, (counts.answers.get(label) ?? 0) + 1)
    counts.bytes += this.bytesSince(socket)
    if (tookMs === undefined) return
    this.duration.observe(tookMs / 1000)
    counts.seconds += tookMs / 1000
  }

  /** Counts a failure where it is the refusal of a limit. A rehearsal only shows one. */
  countRefusal({ code, data }: AppError): void {
    if (REFUSALS.has(code) && data.rehearsal !== true)
      this.refusals.set(code, (this.refusals.get(code) ?? 0) + 1)
  }

  private countsOf(group: string): GroupCounts {
    const known = this.groups.get(group)
    if (known) return known
    const counts = { seconds: 0, bytes: 0, answers: new Map<string, number>() }
    this.groups.set(group, counts)
    return counts
  }

  /** Bytes that a connection has written since its previous answer. */
  private bytesSince(socket: Socket): number {
    const written = socket.bytesWritten
    const before = this.writtenBefore.get(socket) ?? 0
    this.writtenBefore.set(socket, written)
    return Math.max(0, written - before)
  }
}

function statusLabel(status: number): string {
  return OWN_STATUSES.has(status) ? String(status) : `${Math.floor(status / 100)}xx`
}
