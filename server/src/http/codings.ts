/** The content codings that this server speaks, the better one first. */
export const CODINGS = ['br', 'gzip'] as const
export type Coding = (typeof CODINGS)[number]

const ENTRY = /^\s*([\w*-]+)\s*(?:;\s*q\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/i

/**
 * The coding that a reader likes best of those that we speak, as `Accept-Encoding` says (RFC 9110, 12.5.3); where
 * it likes both alike, the better one. Undefined for a reader that takes neither.
 *
 * Only for bodies that are kept compressed: all others are compressed by the server itself (http/server.ts).
 *
 * @example
 * acceptedCoding('gzip, deflate, br') // 'br'
 * acceptedCoding('gzip, br;q=0.5') // 'gzip'
 */
export function acceptedCoding(acceptEncoding: string): Coding | undefined {
  const weights = new Map<string, number>()
  for (const entry of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = ENTRY.exec(entry) ?? []
    if (name !== undefined) weights.set(name.toLowerCase(), Number(weight))
  }
  let best: Coding | undefined
  let most = 0
  for (const coding of CODINGS) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0
    if (weight <= most) continue
    best = coding
    most = weight
  }
  return best
}
