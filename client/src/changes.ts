import type { Call } from './call.ts'
import type { Client } from './client.ts'
import { LandpassError, offlineError } from './errors.ts'
import { changeStream, type LandFilter, landStream } from './land.ts'
import { EventStreamReader, type StreamPart } from './server-sent-events.ts'
import type { LandRow } from './types.ts'

/** A state of the land. */
export interface LandState {
  /** Grows by one with every committed change; the expiry of an offer does not change it. */
  readonly revision: number
  /** Opaque text that names the state, for `followChanges` and `land.feed`. */
  readonly state: string
  /** Time of the last change: ISO 8601, UTC. */
  readonly changed_at: string
  /** The block of the chain that this state is at; only where the land follows a chain. Its hash is 0x and 64 hex digits. */
  readonly block?: { readonly number: number; readonly hash: string }
}

/**
 * An event of the change stream: docs/changes.md.
 *
 * `hello`: the current state, sent first if no state was given · `change`: the named parcels and estates have
 * changed · `reset`: everything may have changed.
 */
export type LandChange =
  | (LandState & { readonly kind: 'hello' | 'reset' })
  | (LandState & {
      readonly kind: 'change'
      /** Coordinates `x,y`. */
      readonly parcels: readonly string[]
      /** Ids. */
      readonly estates: readonly string[]
    })

/**
 * An event of a search of land: docs/changes.md.
 *
 * `hello`: the current state, sent first if no state was given · `change`: what the search finds has changed · `reset`: read it again.
 */
export type SearchChange =
  | (LandState & { readonly kind: 'hello' | 'reset' })
  | (LandState & {
      readonly kind: 'change'
      /** The rows that match now, and did not before. */
      readonly began: readonly LandRow[]
      /** The rows that matched before and now, as they are now. */
      readonly changed: readonly LandRow[]
      /** `x,y`, or `estate:<id>`, of those that do not match any more. */
      readonly ceased: readonly string[]
    })

export interface FollowOptions {
  /** The state that the caller has: the first event names what changed since. Without: the first event is `hello`. */
  readonly since?: string | undefined
  /** Ends the iteration: the iterator throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * Milliseconds before the client reconnects, if the server does not say how long: 5 s if left out. Every wait, also
   * one that the server asks for, is limited to 500 ms to 5 min.
   */
  readonly retryMs?: number
  /** Called when a stream has begun, also after each reconnect. An error that it throws ends the iteration. */
  readonly onOpen?: () => unknown
  /** Called when the stream has ended or could not be opened; the client reconnects after the wait. */
  readonly onBreak?: (error: LandpassError | undefined) => unknown
}

const DEFAULT_RETRY_MS = 5_000
const MIN_RETRY_MS = 500
const MAX_RETRY_MS = 5 * 60_000
const KINDS: readonly string[] = ['hello', 'change', 'reset'] satisfies readonly LandChange['kind'][]

/**
 * Follows the change stream: yields every change of the land, and resumes when the connection breaks, without missing
 * or repeating a change. It ends when its signal is aborted or the caller leaves the loop. An event that cannot be
 * parsed or has more than about 1 MB counts as a broken connection.
 *
 * @throws {LandpassError} for a permanent refusal, such as `invalid_parameter`; while the server is unreachable, busy
 * or starting, the client reconnects without limit
 * @example
 * for await (const change of followChanges(client, { since: grid.state })) {
 *   grid.apply(readFeed(await client.send(land.feed(grid.state))))
 * }
 */
export function followChanges(
  client: Client,
  options: FollowOptions = {},
): AsyncGenerator<LandChange, never, undefined> {
  return follow<LandChange>(client, { call: changeStream, lists: ['parcels', 'estates'] }, options)
}

/**
 * Follows a search: yields what changes of the land that it finds, and resumes like {@link followChanges}. The state of its events is
 * for this function alone.
 *
 * @throws {LandpassError} as {@link followChanges} does
 * @example
 * for await (const change of followLand(client, { status: 'open', max_price: 2_000, max_plaza: 3 }))
 *   if (change.kind === 'change') for (const row of change.began) console.log(row.asset_id, row.offer?.price)
 */
export function followLand(
  client: Client,
  search: LandFilter,
  options: FollowOptions = {},
): AsyncGenerator<SearchChange, never, undefined> {
  const call = (since?: string) => landStream(search, since)
  return follow<SearchChange>(client, { call, lists: ['began', 'changed', 'ceased'] }, options)
}

/** A stream of events. */
interface Followed {
  readonly call: (since?: string) => Call<AsyncIterable<Uint8Array>>
  /** The lists that an event of the kind `change` has. */
  readonly lists: readonly string[]
}

async function* follow<Change extends LandState>(
  client: Client,
  { call, lists }: Followed,
  options: FollowOptions,
): AsyncGenerator<Change, never, undefined> {
  const { signal, onOpen, onBreak } = options
  let { since, retryMs = DEFAULT_RETRY_MS } = options
  for (;;) {
    let waitMs: number | undefined
    try {
      const stream = await client.send(call(since), { signal, retries: 0 })
      const reader = new EventStreamReader()
      let isOpen = false
      for await (const piece of stream) {
        // Called inside the loop, so that the stream is closed if onOpen throws.
        if (!isOpen) onOpen?.()
        isOpen = true
        for (const part of partsOf(reader, piece)) {
          if (part.kind === 'retry') retryMs = part.ms
          else if (KINDS.includes(part.name)) {
            const change = changeOf<Change>(part.name, part.data, lists)
            since = change.state
            yield change
          }
        }
      }
      onBreak?.(undefined)
    } catch (error) {
      if (!(error instanceof LandpassError) || !isTemporary(error)) throw error
      onBreak?.(error)
      waitMs = error.retryAfterS === undefined ? undefined : error.retryAfterS * 1000
    }
    await client.wait(limitedRetryMs(waitMs ?? retryMs), signal)
  }
}

function partsOf(reader: EventStreamReader, piece: Uint8Array): readonly StreamPart[] {
  try {
    return reader.take(piece)
  } catch (error) {
    throw offlineError(error) // a Landpass server sends no such event: the stream counts as broken
  }
}

/** @throws {LandpassError} `offline` for data that no Landpass server sends: the stream counts as broken */
function changeOf<Change>(kind: string, json: string, lists: readonly string[]): Change {
  try {
    const data: unknown = JSON.parse(json)
    assertChange(kind, data, lists)
    return { ...data, kind } as Change
  } catch (error) {
    throw offlineError(error)
  }
}

/** Checks the fields that the next request and the caller use. */
function assertChange(kind: string, data: unknown, lists: readonly string[]): asserts data is object {
  const { state, ...named } = (data ?? {}) as Readonly<Record<string, unknown>>
  if (typeof state !== 'string' || state === '') throw new TypeError('The event names no state.')
  if (kind === 'change' && !lists.every((name) => Array.isArray(named[name])))
    throw new TypeError(`The event has not all of the lists ${lists.join(', ')}.`)
}

/** Limits a wait, so that the client neither floods the server nor waits for hours. */
function limitedRetryMs(ms: number): number {
  return ms > MIN_RETRY_MS ? Math.min(ms, MAX_RETRY_MS) : MIN_RETRY_MS
}

/** Whether the server is unreachable, busy or starting. */
function isTemporary({ status }: LandpassError): boolean {
  return status === 0 || status === 408 || status === 429 || status >= 500
}
