import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { SECOND_MS } from '../../clock.ts'
import type { EventStream, EventStreams } from '../../http/event-streams.ts'
import type { CounterSource, GaugeSource } from '../../http/metrics.ts'
import type { ReadChanges } from '../../state/differences/changed-assets.ts'
import {
  type StateAt,
  type StateVersion,
  stateAt,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import type { LandContext } from '../common/land-context.ts'
import { ChangeEvents } from './change-events.ts'
import { eventText } from './event-text.ts'

/** The state that a reader has; `nothing` where it named none, `unknown` where it is none of ours. */
export type KnownState = StateVersion | 'nothing' | 'unknown'

export interface ChangeStreamParts {
  readonly land: Pick<LandContext, 'state' | 'clock'>
  readonly streams: EventStreams
  readonly readChanges: ReadChanges
  /** Brings the state up to what is committed now. */
  catchUp(): Promise<void>
  readonly log: Pick<FastifyBaseLogger, 'warn'>
}

/** A clock can be set: whether an offer has expired is asked at least so often. */
const LOOK_AT_LEAST_EVERY_MS = SECOND_MS / 2

/**
 * Tells all readers of `/v2/changes` of every new state of the land: after each change that the keeper shows, and when
 * an offer expires.
 *
 * Invariant: all streams that follow have been told of `told`. A new one is first brought from the state that its
 * reader has to that one, and follows from the same moment on, so nobody misses an event or hears one twice.
 */
export class ChangeStream {
  private readonly land: ChangeStreamParts['land']
  private readonly streams: EventStreams
  private readonly catchUp: () => Promise<void>
  private readonly log: Pick<FastifyBaseLogger, 'warn'>
  private readonly events: ChangeEvents
  /** Undefined while nobody follows: a state that has gone should not stay in memory for nobody. */
  private told: StateAt | undefined
  private telling: Promise<void> | undefined
  private timer: NodeJS.Timeout | undefined

  constructor({ land, streams, readChanges, catchUp, log }: ChangeStreamParts) {
    this.land = land
    this.streams = streams
    this.catchUp = catchUp
    this.log = log
    this.events = new ChangeEvents(readChanges)
  }

  /** Whether a stream would be opened now. @throws {AppError} as {@link open} does */
  assertOpens(request: FastifyRequest): void {
    this.land.state()
    this.streams.assertRoom(request)
  }

  /**
   * Answers with a stream that begins with what is new to its reader.
   *
   * @throws {AppError} `world_not_loaded`, and what {@link EventStreams.open} throws
   */
  open(request: FastifyRequest, reply: FastifyReply, known: KnownState): void {
    this.land.state()
    const stream = this.streams.open(request, reply)
    this.begin(stream, known).catch((error) => {
      this.log.warn({ err: error }, 'what changed could not be read; a reader was sent away to come again')
      stream.end()
    })
  }

  /** Looks whether the land has another state than the one that readers were told of, and tells them. */
  look(): void {
    this.telling ??= Promise.resolve().then(() => this.tellUntilCurrent())
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
      { name: `${name}_opened_total`, help: 'Streams that began.', read: () => streams.counts.opened },
      { name: `${name}_refused_total`, help: 'Streams beyond a limit.', read: () => streams.counts.refused },
      { name: `${name}_dropped_total`, help: 'Readers too slow.', read: () => streams.counts.dropped },
      { name: 'landpass_change_events_total', help: 'Events made, each for all.', read: () => events.made },
    ]
  }

  private async begin(stream: EventStream, known: KnownState): Promise<void> {
    if (this.isAhead(known)) await this.catchUp()
    // Whoever has read the land a moment ago is ahead of what is being told.
    await this.telling
    let told = this.toldNow()
    if (known === 'nothing') stream.send(Buffer.from(eventText('hello', told)))
    if (known === 'unknown') stream.send(Buffer.from(eventText('reset', told)))
    if (typeof known === 'object') {
      let since = known
      while (!isSame(since, versionOf(told))) {
        stream.send(await this.events.between(since, told))
        since = versionOf(told)
        told = this.toldNow() // another one, if the others were told something meanwhile
      }
    }
    stream.follow()
    this.look()
  }

  /** Another process may have told its readers of a change that this one has not heard of yet. */
  private isAhead(known: KnownState): boolean {
    const { parts, revision } = this.land.state()
    return typeof known === 'object' && known.lineage === parts.lineage && known.revision > revision
  }

  private toldNow(): StateAt {
    this.told ??= this.stateNow()
    return this.told
  }

  private stateNow(): StateAt {
    return stateAt(this.land.state(), this.land.clock.nowMs())
  }

  /** A wish that comes during the work is seen by the loop; one that comes after it finds `telling` empty. */
  private async tellUntilCurrent(): Promise<void> {
    clearTimeout(this.timer)
    let lookAgainMs = LOOK_AT_LEAST_EVERY_MS
    try {
      while (this.streams.followers > 0) {
        const next = this.stateNow()
        const since = versionOf(this.told ?? next)
        lookAgainMs = Math.min(LOOK_AT_LEAST_EVERY_MS, next.openOffers.nextExpiryMs - this.land.clock.nowMs())
        const isTold = isSame(since, versionOf(next))
        const event = isTold ? undefined : await this.events.between(since, next)
        this.told = next
        if (!event) break
        await this.streams.tell(event)
      }
    } catch (error) {
      this.log.warn({ err: error }, 'what changed could not be read; readers hear of it later')
      lookAgainMs = LOOK_AT_LEAST_EVERY_MS
    }
    this.telling = undefined
    if (this.streams.followers === 0) this.told = undefined
    else this.timer = setTimeout(() => this.look(), lookAgainMs).unref()
  }
}

function isSame(a: StateVersion, b: StateVersion): boolean {
  return versionText(a) === versionText(b)
}
