import http from 'node:http'

/** One request, ready to be sent to any server process. */
export interface Call {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string
}

export interface Reply {
  /** 0 when there was no answer. */
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  /** `data` of the body, if it is JSON. */
  readonly data: unknown
  readonly code: string | undefined
}

/** Sends requests over a limited number of kept-alive connections; further requests wait for a free connection. */
export class Caller {
  private readonly agent: http.Agent
  /** @param sockets connections to each server process at most */
  constructor(sockets: number) {
    this.agent = new http.Agent({ keepAlive: true, maxSockets: sockets })
  }

  /** Never throws for a network error: a broken connection is status 0. */
  send(origin: string, { method, path, headers, body }: Call): Promise<Reply> {
    const { hostname, port } = new URL(origin)
    const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
    return new Promise((resolve) => {
      const request = http.request(
        { hostname, port, method, path, headers: { ...length, ...headers }, agent: this.agent },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.once('end', () => resolve(replyOf(response, Buffer.concat(chunks).toString('utf8'))))
          response.once('error', () => resolve(NO_REPLY))
        },
      )
      request.once('error', () => resolve(NO_REPLY))
      request.end(body)
    })
  }

  close(): void {
    this.agent.destroy()
  }
}

const NO_REPLY: Reply = { status: 0, headers: {}, text: '', data: undefined, code: undefined }

function replyOf(response: http.IncomingMessage, text: string): Reply {
  const body = parseObject(text)
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    data: body.data,
    code: typeof body.code === 'string' ? body.code : undefined,
  }
}

function parseObject(text: string): { data?: unknown; code?: unknown } {
  try {
    return (JSON.parse(text) as object | null) ?? {}
  } catch {
    return {}
  }
}

/** `200`, `409 no_codes_left`, `no answer`. */
export function outcomeOf({ status, code }: Pick<Reply, 'status' | 'code'>): string {
  if (status === 0) return 'no answer'
  return code === undefined ? String(status) : `${status} ${code}`
}

export function isRefusedWith(
  codes: ReadonlySet<string>,
  { status, code }: Pick<Reply, 'status' | 'code'>,
): boolean {
  return status >= 400 && status < 500 && code !== undefined && codes.has(code)
}

export function jsonCall(method: string, path: string, body: unknown): Call {
  return { method, path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}
