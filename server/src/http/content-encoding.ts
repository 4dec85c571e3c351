import type { IncomingMessage } from 'node:http'

/** The content encodings in which this server sends bodies; brotli compresses better and so comes first. */
export const CONTENT_ENCODINGS = ['br', 'gzip'] as const
export type ContentEncoding = (typeof CONTENT_ENCODINGS)[number]

const ENTRY = /^\s*([\w*-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i

/**
 * The encoding that a client prefers by its `Accept-Encoding` (RFC 9110, 12.5.3); brotli if it prefers neither.
 * Undefined for a client that accepts neither.
 *
 * For bodies of `send` (http/send.ts): a plugin compresses those that are given to `reply.send` (http/server.ts).
 *
 * @example
 * acceptedEncoding('gzip, deflate, br') // 'br'
 * acceptedEncoding('gzip, br;q=0.5') // 'gzip'
 */
export function acceptedEncoding(acceptEncoding: string): ContentEncoding | undefined {
  const weights = weightsIn(acceptEncoding)
  let best: ContentEncoding | undefined
  let most = 0
  for (const encoding of CONTENT_ENCODINGS) {
    const weight = weights(encoding)
    if (weight <= most) continue
    best = encoding
    most = weight
  }
  return best
}

/** The weight of each encoding; 0 for one that is refused. */
function weightsIn(acceptEncoding: string): (encoding: string) => number {
  const weights = new Map<string, number>()
  for (const entry of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = ENTRY.exec(entry) ?? []
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight))
  }
  return (encoding) => weights.get(encoding) ?? weights.get('*') ?? 0
}

/**
 * Whether the client of a request refuses an encoding. One that names none takes all (RFC 9110, 12.5.3). The header may have thousands of
 * entries: it is read when it is first needed, and once.
 */
export function refusalsOf({ headers }: Pick<IncomingMessage, 'headers'>): (encoding: string) => boolean {
  const accepted = headers['accept-encoding']
  let weights: ReturnType<typeof weightsIn> | undefined
  return (encoding) => {
    if (accepted === undefined) return false
    weights ??= weightsIn(String(accepted))
    return weights(encoding) === 0
  }
}

/** The encoding that the client of a request prefers; undefined where it did not say. */
export function encodingOf({ headers }: Pick<IncomingMessage, 'headers'>): ContentEncoding | undefined {
  const accepted = headers['accept-encoding']
  return accepted === undefined ? undefined : acceptedEncoding(String(accepted))
}
