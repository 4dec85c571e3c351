import type { TransportBody } from './transport.ts'

/** The whole body as text. A byte order mark stays: spreadsheets need that of a table. */
export async function readText(body: TransportBody): Promise<string> {
  if (typeof body === 'string') return body
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await readBytes(body))
}

/** The whole body as bytes. */
export async function readBytes(body: TransportBody): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  if (typeof body === 'string') return new TextEncoder().encode(body)
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    pieces.push(piece)
    length += piece.length
  }
  const [only] = pieces
  if (only && pieces.length === 1) return only
  const bytes = new Uint8Array(length)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/** The body in pieces, as they arrive. A caller that stops reading early ends the request. */
export async function* piecesOf(body: TransportBody): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) yield await readBytes(body)
  else yield* body
}
