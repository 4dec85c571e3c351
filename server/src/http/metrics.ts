import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

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

/** An answer that was sent. */
export interface SentAnswer {
  readonly method: string
  readonly route: string
  readonly status: number
  /** Undefined for an answer that stays open, such as a stream. */
  readonly tookMs: number | undefined
  readonly socket: Socket
}

interface MeasuredRoute {
  readonly duration: Histogram.Internal<'method' | 'route'>
  readonly bytes: Counter.Internal
  countStatus(status: number): void
}

const DURATION_BUCKETS_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** All metrics of `/metrics`. Each server has its own, so that two servers in one process do not mix theirs. */
export class Metrics {
  readonly registry = new Registry()
  private readonly requests: Counter<'method' | 'route' | 'status'>
  private readonly duration: Histogram<'method' | 'route'>
  private readonly bytes: Counter<'method' | 'route'>
  /** By method and route. All addresses that are no route share one entry. */
  private readonly routes = new Map<string, MeasuredRoute>()
  private readonly writtenBefore = new WeakMap<Socket, number>()

  constructor() {
    const registers = [this.registry]
    collectDefaultMetrics({ register: this.registry })
    this.requests = new Counter({
      name: 'landpass_http_requests_total',
      help: 'Answered requests, by route and status.',
      labelNames: ['method', 'route', 'status'],
      registers,
    })
    this.duration = new Histogram({
      name: 'landpass_http_request_duration_seconds',
      help: 'Time from the arrival of a request to the end of its answer.',
      labelNames: ['method', 'route'],
      buckets: DURATION_BUCKETS_S,
      registers,
    })
    this.bytes = new Counter({
      name: 'landpass_http_response_bytes_total',
      help: 'Bytes written to the network, headers included.',
      labelNames: ['method', 'route'],
      registers,
    })
  }

  addGauges(sources: readonly GaugeSource[]): void {
    for (const { name, help, labels = {}, read } of sources) {
      const known = this.registry.getSingleMetric(name)
      if (known) throw new Error(`metric ${name} is registered already`)
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

  /** Measures every request that the framework answers. */
  watch(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      const { url = 'none', config } = request.routeOptions
      if (!config?.isEndless) this.count(request, reply, { route: url, tookMs: reply.elapsedTime })
      done()
    })
    app.addHook('onRoute', (route) => {
      if (!route.config?.isEndless) return
      // Most streams are closed by the client: then the hook `onResponse` does not run.
      const countAtClose: onRequestHookHandler = (request, reply, done) => {
        reply.raw.once('close', () => this.count(request, reply, { route: route.url, tookMs: undefined }))
        done()
      }
      route.onRequest = [countAtClose, ...[route.onRequest ?? []].flat()]
    })
  }

  private count(
    request: FastifyRequest,
    reply: FastifyReply,
    facts: Pick<SentAnswer, 'route' | 'tookMs'>,
  ): void {
    const status = reply.raw.statusCode // streams write to the raw response, so `reply.statusCode` is not theirs
    this.countAnswer({ method: request.method, status, socket: request.raw.socket, ...facts })
  }

  countAnswer({ method, route, status, tookMs, socket }: SentAnswer): void {
    const measured = this.measuredOf(method, route)
    measured.countStatus(status)
    if (tookMs !== undefined) measured.duration.observe(tookMs / 1000)
    measured.bytes.inc(this.bytesSince(socket))
  }

  /** The metrics of a route, looked up once: finding a metric by its labels costs more than counting with it. */
  private measuredOf(method: string, route: string): MeasuredRoute {
    const name = `${method} ${route}`
    const known = this.routes.get(name)
    if (known) return known
    const statuses = new Map<number, Counter.Internal>()
    const measured: MeasuredRoute = {
      duration: this.duration.labels({ method, route }),
      bytes: this.bytes.labels({ method, route }),
      countStatus: (status) => {
        const counter =
          statuses.get(status) ?? this.requests.labels({ method, route, status: String(status) })
        statuses.set(status, counter)
        counter.inc()
      },
    }
    this.routes.set(name, measured)
    return measured
  }

  /** Bytes that a connection has written since its previous answer. */
  private bytesSince(socket: Socket): number {
    const written = socket.bytesWritten
    const before = this.writtenBefore.get(socket) ?? 0
    this.writtenBefore.set(socket, written)
    return Math.max(0, written - before)
  }
}
