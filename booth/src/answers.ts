import { signedFetch } from '~system/SignedFetch'

/** What the answers to claims, captchas and events have. */
export interface AnswerData {
  readonly claim?: { readonly status: string; readonly message?: string; readonly retry_after_s?: number }
  readonly event?: EventData
  readonly uuid?: string
  readonly proof_of_work?: { readonly challenge: string; readonly bits: number } | null
  readonly rehearsal?: boolean
  readonly retry_after_s?: number
  /** How many more answers the server takes to the same captcha. */
  readonly tries_left?: number
}

export interface EventData {
  readonly name: string
  readonly image_url: string
}

/** An answer of the server, or of a proxy in its place. */
export interface Answer<Data = AnswerData> {
  readonly status: number
  /** `ok` for a success, else the server's code of the refusal. */
  readonly code: string
  /** In English, for the player. */
  readonly sentence: string
  readonly data: Partial<Data>
  /** When the server expects to have news, in seconds. */
  readonly retryAfterS: number
  /** Nothing was used up, and no token was made. */
  readonly isRehearsal: boolean
}

const DEFAULT_RETRY_S = 5

/** Sends a request that the player's client signs. An error of the client becomes an answer with the code `offline`. */
export async function send<Data = AnswerData>(
  method: 'GET' | 'POST',
  url: string,
  body?: object,
): Promise<Answer<Data>> {
  try {
    const headers = { 'Content-Type': 'application/json' }
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await signedFetch({ url, init })
    return readAnswer<Data>(response.status, response.body, response.headers)
  } catch {
    const sentence = 'The token server does not answer, or you are not signed in.'
    return {
      status: 0,
      code: 'offline',
      sentence,
      data: {},
      retryAfterS: DEFAULT_RETRY_S,
      isRehearsal: false,
    }
  }
}

function readAnswer<Data>(
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Answer<Data> {
  const { ok, data = {}, error = body, code = headers['x-error-code'] ?? codeOf(status, error) } = parse(body)
  // A proxy in between may answer with nothing, or with a page
  const isSentence = error !== '' && !error.startsWith('<')
  const refusal = isSentence
    ? error
    : `The token server has a problem (status ${status}). Please try again later.`
  const wait =
    headers['retry-after'] ?? headers['Retry-After'] ?? data.claim?.retry_after_s ?? data.retry_after_s
  return {
    status,
    code: ok ? 'ok' : code,
    sentence: ok ? (data.claim?.message ?? '') : refusal,
    data: data as Partial<Data>,
    retryAfterS: Number(wait) || DEFAULT_RETRY_S,
    isRehearsal: data.rehearsal === true || (headers['x-rehearsal'] ?? headers['X-Rehearsal']) === 'true',
  }
}

function parse(body: string): { ok?: boolean; data?: AnswerData; error?: string; code?: string } {
  try {
    const json = JSON.parse(body)
    return typeof json === 'object' && json !== null ? json : { error: String(json) }
  } catch {
    return {}
  }
}

/** The desktop client gives a scene only the sentence of a failure. Used if the header is missing as well. */
function codeOf(status: number, sentence: string): string {
  if (sentence === 'Address already claimed a code for this event') return 'already_claimed'
  if (/proof of work/i.test(sentence)) return 'proof_of_work_required'
  if (/not what the image shows/i.test(sentence)) return 'wrong_captcha'
  if (/captcha/i.test(sentence)) return 'captcha_required'
  if (/not earned this token/i.test(sentence)) return 'grant_required'
  if (/not at the event/i.test(sentence)) return 'not_at_event'
  return [429, 502, 503, 504].includes(status) ? 'try_later' : 'refused'
}
