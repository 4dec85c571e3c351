/**
 * How the client reaches a server: one function. {@link fetchTransport} is the usual one; a runtime without `fetch`, a
 * signature on each request or a test brings its own.
 *
 * @throws anything when no answer came; the client makes a `LandpassError` with the code `offline` of it
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body?: string
  /** Ends the request, and the reading of its answer. */
  readonly signal?: AbortSignal | undefined
}

export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: TransportBody
}

/** A whole body, or one that is read piece by piece. It is read once. */
export type TransportBody = string | Uint8Array | AsyncIterable<Uint8Array>
