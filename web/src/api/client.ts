import { type Call, createClient } from '@landpass/client'

/**
 * The client for the server that the page came from. It does not retry: the pages show the failure and retry
 * themselves.
 */
export const client = createClient({ baseUrl: '', retries: 0 })

/**
 * Sends a call and returns the data of its answer.
 *
 * @throws {LandpassError} where the server refuses or does not answer; `AbortError` where the signal aborts
 */
export function send<Data>(call: Call<Data>, signal?: AbortSignal): Promise<Data> {
  return client.send(call, { signal })
}
