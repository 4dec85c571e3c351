import { MINUTE_MS, SECOND_MS } from '../clock.ts'
import { ask, OutboundError } from '../outbound.ts'
import { type Comparable, comparable, type Difference, differencesOf } from './differences.ts'

/** Requests that differ in the same field of the same kind of address. */
export interface DifferingField extends Difference {
  /** The address with `*` in place of numbers and names that are data. */
  readonly address: string
  readonly requests: number
  /** The first of them, whose values `there` and `here` are. */
  readonly example: string
}

export interface Comparison {
  readonly compared: number
  readonly same: number
  /** Requests that one of the servers has not answered, with the first ones. */
  readonly unanswered: { readonly count: number; readonly examples: readonly string[] }
  /** The most frequent first. */
  readonly fields: readonly DifferingField[]
  /** Requests whose differences are not in `fields`, which is full. */
  readonly beyond: number
}

export interface ComparedServers {
  /** Origin or address below which `there` answers, without a slash at its end. */
  readonly there: string
  readonly here: string
  /** Waits before a request that a server refused with 429 or 503 is sent again. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<unknown>
  readonly signal: AbortSignal
}

const LIMITS = { timeoutMs: 30 * SECOND_MS, maxBytes: 64_000_000 }
const TRIES = 3
const MAX_PAUSE_MS = MINUTE_MS
const MAX_FIELDS = 1_000
const MAX_EXAMPLES = 5

/** Sends each read to both servers, one after another, and says in which fields the answers differ. */
export async function compareServers(
  reads: Iterable<string>,
  { there, here, pause, signal }: ComparedServers,
): Promise<Comparison> {
  const fields = new Map<string, DifferingField>()
  const examples: string[] = []
  let [compared, same, unanswered, beyond] = [0, 0, 0, 0]
  for (const path of reads) {
    signal.throwIfAborted()
    const answers = await Promise.all([there, here].map((base) => read(base, path, { pause, signal })))
    const [ofThere, ofHere] = answers
    if (ofThere === undefined || ofHere === undefined) {
      unanswered++
      if (examples.length < MAX_EXAMPLES) examples.push(path)
      continue
    }
    compared++
    const differences = differencesOf(ofThere, ofHere)
    if (differences.length === 0) same++
    for (const difference of differences) {
      const address = addressForm(path)
      const key = `${address} ${difference.field}`
      const known = fields.get(key)
      if (known !== undefined) fields.set(key, { ...known, requests: known.requests + 1 })
      else if (fields.size < MAX_FIELDS)
        fields.set(key, { ...difference, address, requests: 1, example: path })
      else beyond++
    }
  }
  const byCount = [...fields.values()].sort((a, b) => b.requests - a.requests)
  return { compared, same, unanswered: { count: unanswered, examples }, fields: byCount, beyond }
}

/** Undefined where there is no whole answer, for example a redirect: the request is not sent elsewhere. */
async function read(
  baseUrl: string,
  path: string,
  { pause, signal }: Pick<ComparedServers, 'pause' | 'signal'>,
): Promise<Comparable | undefined> {
  try {
    for (let tried = 1; ; tried++) {
      const request = { method: 'GET', path, parse: (body: Buffer) => body } as const
      const { status, json: body, retryAfterMs } = await ask({ baseUrl, ...LIMITS, signal }, request)
      const isBusy = (status === 429 || status === 503) && retryAfterMs !== undefined
      if (!isBusy || tried === TRIES || retryAfterMs > MAX_PAUSE_MS) return comparable(status, body as Buffer)
      await pause(retryAfterMs, signal)
    }
  } catch (error) {
    if (error instanceof OutboundError) return undefined
    throw error
  }
}

// `/v1/parcels/10/20?a=b` becomes `/v1/parcels/*/*`: a comment of the other form would end in it.
function addressForm(path: string): string {
  const [address = ''] = path.split('?')
  return address.replace(/(?<=\/)(?:-?\d+(?:,-?\d+)?|0x[\da-f]+|[\da-f]{8}-[\da-f-]{27})(?=[/.]|$)/gi, '*')
}
