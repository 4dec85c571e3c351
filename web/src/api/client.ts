import { type Call, createClient } from '@landpass/client'

/** Speaks with the server that the page came from. Nothing is retried here: the pages do that, with the failure in sight. */
export const client = createClient({ baseUrl: '', retries: 0 })

/** Sends a call. @throws {LandpassError} for a refusal and for no answer; `AbortError` when the signal ends it */
export function send<Data>(call: Call<Data>, signal?: AbortSignal): Promise<Data> {
  return client.send(call, { signal })
}
