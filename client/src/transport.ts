/**
 * Sends one request. The default is {@link fetchTransport}. Write another one for a runtime without `fetch`, to sign
 * requests, or for tests.
 *
 * @throws any error if no answer arrived; the client throws a `LandpassError` with the code `offline` instead
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>

export interface TransportRequest {
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON. */
  readonly body?: string
  /** Aborts the request, and the reading of its answer. */
  readonly signal?: AbortSignal | undefined
}

export interface TransportResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: TransportBody
}

/** A whole body, or one that is read piece by piece, once. */
export type TransportBody = string | Uint8Array | AsyncIterable<Uint8Array>
