import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Freshness } from '../../freshness.ts'
import { answer, type JsonPieces } from '../../http/answers.ts'

const OPEN = Buffer.from('[')
const CLOSE = Buffer.from(']')
const COMMA = Buffer.from(',')

/** Up to so many assets (about 2 MB) an answer is made whole; beyond, it is written as its reader takes it. */
export const WHOLE_ANSWER_ASSETS = 4096

/** A JSON array of values that are made of pieces. */
export function* arrayPieces(values: Iterable<JsonPieces>): Generator<Uint8Array> {
  yield OPEN
  let isFirst = true
  for (const value of values) {
    if (!isFirst) yield COMMA
    isFirst = false
    yield* value
  }
  yield CLOSE
}

const OPEN_OBJECT = Buffer.from('{')
const CLOSE_OBJECT = Buffer.from('}')

/** A JSON object of pieces of members, each member with a comma after it: the last comma is left out. */
export function* objectPieces(members: Iterable<Uint8Array>): Generator<Uint8Array> {
  yield OPEN_OBJECT
  let last: Uint8Array | undefined
  for (const piece of members) {
    if (last) yield last
    last = piece
  }
  if (last) yield last.subarray(0, -1)
  yield CLOSE_OBJECT
}

/** Answers an array that is read from the database: nothing is read when the reader's copy is still right. */
export function answerRows<Row>(
  request: FastifyRequest,
  reply: FastifyReply,
  freshness: Freshness,
  read: () => Promise<readonly Row[]>,
  rowJson: (row: Row) => string,
) {
  return answer(request, reply, freshness, async () => {
    const rows = await read()
    return [Buffer.from(`[${rows.map(rowJson).join(',')}]`)]
  })
}
