import type { FastifyReply, FastifyRequest } from 'fastify'
import { answer, type Freshness, type JsonPieces } from '../http/answers.ts'

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
