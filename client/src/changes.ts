import type { Client } from './client.ts'
import { LandpassError, offlineError } from './errors.ts'
import { changeStream } from './land.ts'
import { EventStreamReader, type StreamPart } from './server-sent-events.ts'

/** The land, as it is in one state. */
export interface LandState {
  /** Rises by one with every committed change; an expiry leaves it as it is. */
  readonly revision: number
  /** For `followChanges` and `land.feed`. Not to be taken apart. */
  readonly state: string
  /** When the land came into this state: ISO 8601, UTC. */
  readonly changed_at: string
}

/**
 * What the stream of changes tells: docs/changes.md.
 *
 * `hello`: the state of now, first of all where no state was given · `change`: read again what it names · `reset`:
 * everything may be another.
 */
export type LandChange =
  | (LandState & { readonly kind: 'hello' | 'reset' })
  | (LandState & {
      readonly kind: 'change'
      /** `x,y` of each. */
      readonly parcels: readonly string[]
      /** Ids. */
      readonly estates: readonly string[]
    })

export interface FollowOptions {
  /** What changed after this state is told first. Without: `hello` comes first. */
  readonly since?: string | undefined
  /** Ends it: the iterator throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * Wait before a new try where the server does not say how long, in milliseconds: 5 s if left out. Every wait, also one
   * that the server asks for, has at least 500 ms and at most 5 min.
   */
  readonly retryMs?: number
  /** A stream has begun, the first or a later one: its first piece has come. What it throws ends the iteration. */
  readonly onOpen?: () => unknown
  /** The stream has ended or could not be opened; it is tried again after a while. */
  readonly onBreak?: (error: LandpassError | undefined) => unknown
}

const DEFAULT_RETRY_MS = 5_000
const MIN_RETRY_MS = 500
const MAX_RETRY_MS = 5 * 60_000
const KINDS: readonly string[] = ['hello', 'change', 'reset'] satisfies readonly LandChange['kind'][]

/**
 * Tells of every change of the land as it happens, and goes on where it was when the connection breaks: no change is
 * left out, and none is told twice. It ends with its signal, and when its reader leaves the loop. An event that cannot be
 * read, or that has more than about 1 MB, counts as a broken connection.
 *
 * @throws {LandpassError} for a refusal that waiting does not change, `invalid_parameter` for instance; where the server
 * is out of reach, busy or starting it is asked again for as long as it takes
 * @example
 * for await (const change of followChanges(client, { since: grid.state })) {
 *   grid.apply(readFeed(await client.send(land.feed(grid.state))))
 * }
 */
export async function* followChanges(
  client: Client,
  options: FollowOptions = {},
): AsyncGenerator<LandChange, never, undefined> {
  const { signal, onOpen, onBreak } = options
  let { since, retryMs = DEFAULT_RETRY_MS } = options
  for (;;) {
    let waitMs: number | undefined
    try {
      const stream = await client.send(changeStream(since), { signal, retries: 0 })
      const reader = new EventStreamReader()
      let isOpen = false
      for await (const piece of stream) {
        // Within the loop, so that the stream is closed if this throws.
        if (!isOpen) onOpen?.()
        isOpen = true
        for (const part of partsOf(reader, piece)) {
          if (part.kind === 'retry') retryMs = part.ms
          else if (KINDS.includes(part.name)) {
            const change = changeOf(part.name, part.data)
            since = change.state
            yield change
          }
        }
      }
      onBreak?.(undefined)
    } catch (error) {
      if (!(error instanceof LandpassError) || !isPassing(error)) throw error
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
    throw offlineError(error) // our server writes no such event: the stream counts as broken
  }
}

/** @throws {LandpassError} `offline` for data that no Landpass server writes: the stream counts as broken */
function changeOf(kind: string, json: string): LandChange {
  try {
    const data: unknown = JSON.parse(json)
    assertChange(kind, data)
    return { ...data, kind } as LandChange
  } catch (error) {
    throw offlineError(error)
  }
}

/** What would make the next request begin after another state, or break the loop of the caller. */
function assertChange(kind: string, data: unknown): asserts data is object {
  const { state, parcels, estates } = (data ?? {}) as Readonly<Record<string, unknown>>
  if (typeof state !== 'string' || state === '') throw new TypeError('The event names no state.')
  if (kind === 'change' && !(Array.isArray(parcels) && Array.isArray(estates)))
    throw new TypeError('The event names neither parcels nor estates.')
}

/** Keeps a server from being asked without a pause, and a client from waiting for hours. */
function limitedRetryMs(ms: number): number {
  return ms > MIN_RETRY_MS ? Math.min(ms, MAX_RETRY_MS) : MIN_RETRY_MS
}

/** The server is out of reach, busy or starting. */
function isPassing({ status }: LandpassError): boolean {
  return status === 0 || status === 429 || status >= 500
}
