import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { SECOND_MS } from '../../clock.ts'
import type { EventStream, EventStreams, StreamGroup } from '../../http/event-streams.ts'
import type { CounterSource, GaugeSource } from '../../http/metrics.ts'
import type { ReadChanges } from '../../state/differences/changed-assets.ts'
import {
  type StateAt,
  type StateVersion,
  stateAt,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import { RepeatedWork } from '../../work/repeated-work.ts'
import type { LandContext } from '../common/land-context.ts'
import { ChangeEvents } from './change-events.ts'
import { eventText } from './event-text.ts'

/** The state that a client has: `nothing` if it named none, `unknown` if its text is no state of this server. */
export type KnownState = StateVersion | 'nothing' | 'unknown'

export interface ChangeStreamParts {
  readonly land: Pick<LandContext, 'state' | 'clock'>
  readonly streams: EventStreams
  readonly readChanges: ReadChanges
  /** Brings the state up to what is committed now. */
  catchUp(): Promise<void>
  readonly log: Pick<FastifyBaseLogger, 'warn'>
}

/** Expired offers are looked for at least this often, because the clock of the machine can be set. */
export const MAX_POLL_INTERVAL_MS = SECOND_MS / 2

/**
 * Announces every new state of the land to all clients of `/v2/changes`: after each change that the `StateKeeper` has
 * applied, and when an offer expires.
 *
 * Invariant: `announced` is the state that all following streams have. A new stream first gets the event that leads
 * from its client's state to `announced`, and follows from then on, so no client misses an event or gets one twice.
 */
export class ChangeStream {
  private readonly land: ChangeStreamParts['land']
  private readonly streams: EventStreams
  private readonly catchUp: () => Promise<void>
  private readonly log: Pick<FastifyBaseLogger, 'warn'>
  private readonly events: ChangeEvents
  /** Undefined while no stream follows, so that an old state does not stay in memory. */
  private announced: StateAt | undefined
  private readonly following: StreamGroup = new Set()
  private readonly announcing = new RepeatedWork(() => this.announceUntilCurrent())

  constructor({ land, streams, readChanges, catchUp, log }: ChangeStreamParts) {
    this.land = land
    this.streams = streams
    this.catchUp = catchUp
    this.log = log
    this.events = new ChangeEvents(readChanges)
  }

  /** Checks that a stream could be opened now. @throws {AppError} as {@link open} does */
  assertCanOpen(request: FastifyRequest): void {
    this.land.state()
    this.streams.assertWithinLimits(request)
  }

  /**
   * Answers with a stream. Its first event leads from the state of the client to the current one.
   *
   * @throws {AppError} `world_not_loaded`, and what {@link EventStreams.open} throws
   */
  open(request: FastifyRequest, reply: FastifyReply, known: KnownState): void {
    this.land.state()
    const stream = this.streams.open(request, reply)
    this.begin(stream, known).catch((error) => {
      this.log.warn(
        { err: error },
        'the changes could not be read; a stream was closed, and its client reconnects',
      )
      stream.end()
    })
  }

  /** Announces the current state of the land, if it is not announced yet. */
  announceNewState(): void {
    this.announcing.start()
  }

  get gauges(): readonly GaugeSource[] {
    return [
      {
        name: 'landpass_change_streams',
        help: 'Open streams of /v2/changes.',
        read: () => this.streams.size,
      },
    ]
  }

  get counters(): readonly CounterSource[] {
    const { streams, events } = this
    const name = 'landpass_change_streams'
    return [
      { name: `${name}_opened_total`, help: 'Streams that were opened.', read: () => streams.counts.opened },
      {
        name: `${name}_refused_total`,
        help: 'Streams refused by a limit.',
        read: () => streams.counts.refused,
      },
      {
        name: `${name}_dropped_total`,
        help: 'Streams closed because the client was too slow.',
        read: () => streams.counts.dropped,
      },
      {
        name: 'landpass_change_events_total',
        help: 'Events made, each once for all streams.',
        read: () => events.made,
      },
    ]
  }

  private async begin(stream: EventStream, known: KnownState): Promise<void> {
    if (this.isAhead(known)) await this.catchUp()
    // The client may have read a state that is being announced now.
    await this.announcing.settled()
    let announced = this.announcedState()
    if (known === 'nothing') stream.send(Buffer.from(eventText('hello', announced)))
    if (known === 'unknown') stream.send(Buffer.from(eventText('reset', announced)))
    if (typeof known === 'object') {
      let since = known
      while (!isSame(since, versionOf(announced))) {
        stream.send(await this.events.between(since, announced))
        since = versionOf(announced)
        announced = this.announcedState() // another state, if one was announced meanwhile
      }
    }
    stream.follow(this.following)
    this.announceNewState()
  }

  /** Whether the client has a newer state than this process, from another process on the same database. */
  private isAhead(known: KnownState): boolean {
    const { origin, revision } = this.land.state()
    return typeof known === 'object' && known.origin === origin && known.revision > revision
  }

  private announcedState(): StateAt {
    this.announced ??= this.stateNow()
    return this.announced
  }

  private stateNow(): StateAt {
    const now = stateAt(this.land.state(), this.land.clock.nowMs())
    this.events.note(now)
    return now
  }

  /** Repeats until the current state is announced: a state that comes while an event is sent is announced next. */
  private async announceUntilCurrent(): Promise<number | undefined> {
    let nextPollMs = MAX_POLL_INTERVAL_MS
    try {
      while (this.following.size > 0) {
        const next = this.stateNow()
        const since = versionOf(this.announced ?? next)
        nextPollMs = Math.min(MAX_POLL_INTERVAL_MS, next.openOffers.nextExpiryMs - this.land.clock.nowMs())
        const isAnnounced = isSame(since, versionOf(next))
        const event = isAnnounced ? undefined : await this.events.between(since, next)
        this.announced = next
        if (!event) break
        await this.streams.announce(event, this.following)
      }
    } catch (error) {
      this.log.warn({ err: error }, 'the changes could not be read; they are announced later')
      nextPollMs = MAX_POLL_INTERVAL_MS
    }
    if (this.following.size > 0) return nextPollMs
    this.announced = undefined
    return undefined
  }
}

function isSame(a: StateVersion, b: StateVersion): boolean {
  return versionText(a) === versionText(b)
}
