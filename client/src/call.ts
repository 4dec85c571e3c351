/**
 * The description of a request: `land`, `attendance` and `system` make calls, a client sends them. A call is plain
 * data: it can be compared by its path, stored, and sent again.
 */
export interface Call<Data> {
  readonly method: 'GET' | 'POST' | 'PATCH'
  /** The path with its query, without the server: `/v1/parcels/10/20`. */
  readonly path: string
  /** Sent as JSON in the body, never in the address. */
  readonly body?: object
  /** Sent besides those of the client. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly form: AnswerForm
  /** Always undefined: only its type is used, that of the answer. */
  readonly answer?: Data
}

/**
 * The format of an answer. `envelope`: JSON whose `data` is the answer · `json`: JSON that is the answer · `text` ·
 * `bytes` · `stream`: bytes piece by piece, which are not cached and may be without end.
 */
export type AnswerForm = 'envelope' | 'json' | 'text' | 'bytes' | 'stream'

/** The value of a query parameter: an array is written with commas, undefined is left out. */
export type QueryValue = string | number | boolean | readonly (string | number)[] | undefined

/** A GET request whose answer has an envelope. */
export function read<Data>(path: string, query?: object): Call<Data> {
  return readAs<Data>('envelope', path, query)
}

/** A GET request whose answer has another format. */
export function readAs<Data>(form: AnswerForm, path: string, query: object = {}): Call<Data> {
  return { method: 'GET', path: path + queryText(query as Readonly<Record<string, QueryValue>>), form }
}

/** A request that changes something, or has a secret in its body; the client never retries it. */
export function write<Data>(method: 'POST' | 'PATCH', path: string, body?: object): Call<Data> {
  return { method, path, form: 'envelope', ...(body && { body }) }
}

/** A request with a body whose answer has another format. */
export function postFor<Data>(form: AnswerForm, path: string, body: object): Call<Data> {
  return { method: 'POST', path, form, body }
}

/** Values that leave their segment of a path, even if encoded: `/v1/estates/..` is the address `/v1/`. */
const NO_SEGMENTS: readonly string[] = ['', '.', '..']

/**
 * A path with encoded values, so that none of them can leave its segment.
 *
 * @throws {RangeError} for an empty value, `.` and `..`: no address can hold them as a segment
 * @example
 * pathOf`/v1/estates/${'7/x'}/bids` // '/v1/estates/7%2Fx/bids'
 */
export function pathOf(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | bigint)[]
): string {
  return texts.reduce((path, text, i) => path + segmentOf(String(values[i - 1])) + text)
}

function segmentOf(value: string): string {
  if (NO_SEGMENTS.includes(value))
    throw new RangeError(`An id or address in a path must not be empty, "." or "..": this one is "${value}".`)
  return encodeURIComponent(value)
}

function queryText(query: Readonly<Record<string, QueryValue>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`],
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}
