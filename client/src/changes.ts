import type { Client } from './client.ts'
import { LandpassError, offlineError } from './errors.ts'
import { changeStream } from './land.ts'
import { EventStreamReader } from './server-sent-events.ts'

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
  /** Wait before a new try where the server does not say how long, in milliseconds: 5 s if left out. */
  readonly retryMs?: number
  /** A stream has begun, the first or a later one. */
  readonly onOpen?: () => unknown
  /** The stream has ended or could not be opened; it is tried again after a while. */
  readonly onBreak?: (error: LandpassError | undefined) => unknown
}

const DEFAULT_RETRY_MS = 5_000
const KINDS: readonly string[] = ['hello', 'change', 'reset'] satisfies readonly LandChange['kind'][]

/**
 * Tells of every change of the land as it happens, and goes on where it was when the connection breaks: no change is
 * left out, and none is told twice. It ends with its signal, and when its reader leaves the loop.
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
      onOpen?.()
      const reader = new EventStreamReader()
      for await (const piece of stream) {
        for (const part of reader.take(piece)) {
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
    await client.wait(waitMs ?? retryMs, signal)
  }
}

function changeOf(kind: string, data: string): LandChange {
  try {
    return { kind, ...JSON.parse(data) } as LandChange
  } catch (error) {
    throw offlineError(error) // what comes is not of our server: as if it were not there
  }
}

/** The server is out of reach, busy or starting. */
function isPassing({ status }: LandpassError): boolean {
  return status === 0 || status === 429 || status >= 500
}
