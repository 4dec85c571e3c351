import { randomBytes } from 'node:crypto'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { MINUTE_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { EventStream, EventStreams, StreamGroup } from '../../http/event-streams.ts'
import type { CounterSource, GaugeSource } from '../../http/metrics.ts'
import { changedAssets, type ReadChanges } from '../../state/differences/changed-assets.ts'
import { versionOf } from '../../state/differences/state-version.ts'
import { NumberSet } from '../../state/parts/number-set.ts'
import { RepeatedWork } from '../../work/repeated-work.ts'
import type { LandContext } from '../common/land-context.ts'
import { WorkSlice } from '../common/work-slice.ts'
import { matchingAssets } from '../land/land-matches.ts'
import type { LandQuery } from '../land/land-query.ts'
import { MAX_POLL_INTERVAL_MS } from './change-stream.ts'
import { type EventKind, eventText } from './event-text.ts'
import { isSameMoment, type Moment, momentOf, type SearchDifference, SearchStep } from './search-step.ts'

/** Different searches of one process. Each is compared with every change of the land, in some 0.4 ms. */
const MAX_SEARCHES = 2_000
/** For this time a search is followed for clients that come back. */
const KEPT_MS = MINUTE_MS
/** An event with more rows and names is sent as `reset`. */
const MAX_ROWS = 100
/** Bytes of events that are kept of each search, for clients that come back. */
const KEPT_BYTES = 32 * 1024
const REFUSED_FOR_S = 30

interface SentEvent {
  readonly number: number
  readonly bytes: Buffer
}

/** A search that streams follow. */
interface Search {
  readonly query: LandQuery
  readonly group: StreamGroup
  /** Its newest events, whose numbers ascend. All that came after number `completeFrom` are among them. */
  readonly events: SentEvent[]
  completeFrom: number
  /** Since when no stream follows it, by a steady clock. */
  idleSinceMs: number | undefined
}

export interface SearchStreamParts {
  readonly land: Pick<LandContext, 'state' | 'clock' | 'registries'>
  readonly streams: EventStreams
  readonly readChanges: ReadChanges
  readonly log: Pick<FastifyBaseLogger, 'warn'>
}

/**
 * Announces to each stream of `/v2/changes?match=` which rows of its search began to match, changed, or ceased to match. Equal
 * searches are compared once for all of their streams; a search is compared with the assets that a change touches, not with the whole land.
 *
 * Steps between two moments have numbers. Invariant: `moment` is the land after step `step`, and every following stream has all events
 * up to it. No stream begins during a step.
 */
export class SearchStreams {
  private readonly land: SearchStreamParts['land']
  private readonly streams: EventStreams
  private readonly readChanges: ReadChanges
  private readonly log: SearchStreamParts['log']
  /** By a text of the query. */
  private readonly searches = new Map<string, Search>()
  /** Numbers of steps are those of this process alone. */
  private readonly origin = randomBytes(9).toString('base64url')
  private step = 0
  /** Undefined while there is no search, so that an old state does not stay in memory. */
  private moment: Moment | undefined
  private readonly work = new RepeatedWork(() => this.announce())
  private comparisons = 0

  constructor({ land, streams, readChanges, log }: SearchStreamParts) {
    this.land = land
    this.streams = streams
    this.readChanges = readChanges
    this.log = log
  }

  /** @throws {AppError} as {@link open} does */
  assertCanOpen(request: FastifyRequest, query: LandQuery): void {
    this.streams.assertWithinLimits(request)
    this.assertCanFollow(query)
  }

  /**
   * Answers with a stream. Its first event is `hello`; for a client that comes back, what it has missed, or `reset`.
   *
   * @param since the `state` of the last event that the client has
   * @throws {AppError} `world_not_loaded`, `invalid_parameter` for neighbours of what is not on the map, `too_many_streams` where there are {@link MAX_SEARCHES} others, and what {@link EventStreams.open} throws
   */
  open(request: FastifyRequest, reply: FastifyReply, query: LandQuery, since: string | undefined): void {
    this.assertCanFollow(query)
    const stream = this.streams.open(request, reply)
    this.begin(stream, query, since).catch((error) => {
      this.log.warn(
        { err: error },
        'a search could not be followed; a stream was closed, and its client reconnects',
      )
      stream.end()
    })
  }

  /** Announces what differs since the last step. */
  announceNewState(): void {
    if (this.searches.size > 0) this.work.start()
  }

  get gauges(): readonly GaugeSource[] {
    return [
      {
        name: 'landpass_change_searches',
        help: 'Different searches that streams of /v2/changes follow.',
        read: () => this.searches.size,
      },
    ]
  }

  get counters(): readonly CounterSource[] {
    return [
      {
        name: 'landpass_change_searches_compared_total',
        help: 'Comparisons of a search with a change, each once for all its streams.',
        read: () => this.comparisons,
      },
    ]
  }

  private async begin(stream: EventStream, query: LandQuery, since: string | undefined): Promise<void> {
    await this.work.settled()
    this.moment ??= this.momentNow()
    const search = this.searchFor(query)
    const known = this.numberOf(since)
    if (known === undefined) stream.send(this.event(since === undefined ? 'hello' : 'reset'))
    else if (known < search.completeFrom) stream.send(this.event('reset'))
    else for (const { number, bytes } of search.events) if (number > known) stream.send(bytes)
    stream.follow(search.group)
    this.work.start()
  }

  private searchFor(query: LandQuery): Search {
    const key = searchKey(query)
    const known = this.searches.get(key)
    if (known) return known
    this.assertPlaceFor(key)
    const idle = [...this.searches].find(([, { group }]) => group.size === 0)
    if (this.searches.size >= MAX_SEARCHES && idle) this.searches.delete(idle[0])
    const search: Search = {
      ...{ query, group: new Set(), events: [], completeFrom: this.step, idleSinceMs: undefined },
    }
    this.searches.set(key, search)
    return search
  }

  private assertCanFollow(query: LandQuery): void {
    const { view } = this.momentNow()
    // Refuses neighbours of what is not on the map
    matchingAssets(view, query, new NumberSet(view.assets.count))
    this.assertPlaceFor(searchKey(query))
  }

  private assertPlaceFor(key: string): void {
    if (this.searches.size < MAX_SEARCHES || this.searches.has(key)) return
    for (const { group } of this.searches.values()) if (group.size === 0) return
    throw new AppError(
      'too_many_streams',
      `This server follows ${MAX_SEARCHES} different searches, which is its limit. Try again later.`,
      { retry_after_s: REFUSED_FOR_S },
    )
  }

  /** The number of the step in a state of this process; undefined for another text. */
  private numberOf(since: string | undefined): number | undefined {
    const [, origin, digits] = /^(.*)\.(\d{1,15})$/.exec(since ?? '') ?? []
    return origin === this.origin && Number(digits) <= this.step ? Number(digits) : undefined
  }

  private momentNow(): Moment {
    return momentOf(this.land.state(), this.land.registries, this.land.clock.nowMs())
  }

  private event(kind: EventKind, more?: object): Buffer {
    return Buffer.from(eventText(kind, this.moment!.at, { id: `${this.origin}.${this.step}`, more }))
  }

  private async announce(): Promise<number | undefined> {
    this.forgetIdle()
    if (this.searches.size === 0) {
      // What happens until the next search is compared with nothing: clients that come back have missed it.
      if (this.moment) this.step++
      this.moment = undefined
      return undefined
    }
    try {
      const next = this.momentNow()
      this.moment ??= next
      if (!isSameMoment(this.moment, next)) await this.advance(this.moment, next)
      return Math.min(MAX_POLL_INTERVAL_MS, next.endsAtMs - next.view.nowMs)
    } catch (error) {
      this.log.warn(
        { err: error },
        'searches could not be compared with the changes; they are announced later',
      )
      return MAX_POLL_INTERVAL_MS
    }
  }

  private async advance(before: Moment, after: Moment): Promise<void> {
    const assets = await changedAssets(this.readChanges, versionOf(before.at), after.at)
    const step = assets && SearchStep.between(before, after, assets)
    const slice = new WorkSlice()
    const differences = new Map<Search, SearchDifference | undefined>()
    // All are compared before the first event is sent: a failure on the way leaves every stream at the step before.
    for (const search of this.searches.values()) {
      if (slice.isOver) await slice.next()
      if (step) differences.set(search, await step.differenceFor(search.query))
      this.comparisons++
    }
    this.moment = after
    this.step++
    for (const search of this.searches.values()) {
      const difference = differences.get(search)
      if (step && !difference) continue
      if (slice.isOver) await slice.next()
      const isShort = difference && sizeOf(difference) <= MAX_ROWS
      const bytes = isShort ? this.event('change', difference) : this.event('reset')
      keep(search, { number: this.step, bytes })
      await this.streams.announce(bytes, search.group)
    }
  }

  /** Forgets searches that no stream has followed for {@link KEPT_MS}. */
  private forgetIdle(): void {
    const nowMs = performance.now()
    for (const [key, search] of this.searches) {
      if (search.group.size > 0) search.idleSinceMs = undefined
      else {
        search.idleSinceMs ??= nowMs
        if (nowMs - search.idleSinceMs >= KEPT_MS) this.searches.delete(key)
      }
    }
  }
}

function sizeOf({ began, changed, ceased }: SearchDifference): number {
  return began.length + changed.length + ceased.length
}

/** Keeps an event for clients that come back, and drops the oldest ones where they are too long together. */
function keep(search: Search, event: SentEvent): void {
  search.events.push(event)
  let bytes = search.events.reduce((sum, one) => sum + one.bytes.length, 0)
  while (bytes > KEPT_BYTES) {
    const oldest = search.events.shift()!
    bytes -= oldest.bytes.length
    search.completeFrom = oldest.number
  }
}

/** The same text for searches that keep the same land: the order of rows does not count, nor that of words in a list. */
function searchKey({ sortBy, sortOrder, ...query }: LandQuery): string {
  return JSON.stringify(query, (_name, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return Array.isArray(value) ? value.toSorted() : value
  })
}
