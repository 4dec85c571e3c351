import { type Call, createClient, fetchTransport, LandpassError, type Transport } from '@landpass/client'
import { noteServerTime } from './server-clock.ts'

const fetching = fetchTransport()
/** Answers about events have the time by which the server opens and closes them. */
const transport: Transport = async (request) => {
  const sentMs = Date.now()
  const response = await fetching(request)
  if (request.url.startsWith('/event/')) noteServerTime(response.headers.date, sentMs)
  return response
}

/**
 * The client for the server that the page came from. It does not retry: the pages show the failure and retry
 * themselves.
 */
export const client = createClient({ baseUrl: '', retries: 0, transport })

/**
 * Sends a call and returns the data of its answer.
 *
 * @throws {LandpassError} where the server refuses or does not answer, or something else than the server answered;
 *   `AbortError` where the signal aborts
 */
export async function send<Data>(call: Call<Data>, signal?: AbortSignal): Promise<Data> {
  const data = await client.send(call, { signal })
  // No answer that the pages ask for is empty: a proxy or another program has answered.
  if (data === null || data === undefined)
    throw new LandpassError('The answer has no data.', { code: 'unreadable_answer', status: 200 })
  return data
}
