import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type BrotliCompress, constants, createBrotliCompress, createGzip, type Gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Freshness } from '../freshness.ts'
import { isStillFresh, JSON_TYPE, variesWithCoding } from './answers.ts'
import type { Coding } from './codings.ts'

const MIB = 1024 * 1024
const OUTPUT_BYTES = 64 * 1024

/**
 * How large bodies are compressed that are kept: as small as 8 MB of memory for the encoder allow. A higher quality
 * or a larger window makes them a tenth smaller at most, for up to 60 MB: docs/tiles.md has the table.
 */
const ENCODERS: Readonly<Record<Coding, () => Encoder>> = {
  br: () => ({
    stream: createBrotliCompress({
      chunkSize: OUTPUT_BYTES,
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: 21,
        // Says "large": above a megabyte the encoder looks harder, and by how much is all the same.
        [constants.BROTLI_PARAM_SIZE_HINT]: 16 * MIB,
      },
    }),
    // What it has found waits in memory until a block ends: left to itself, it takes half as much again.
    blockBytes: MIB,
  }),
  gzip: () => ({
    stream: createGzip({ chunkSize: OUTPUT_BYTES, level: 9, memLevel: 9 }),
    blockBytes: Infinity,
  }),
}

interface Encoder {
  readonly stream: BrotliCompress | Gzip
  /** After so many bytes of plain text it is told to write out what it holds. */
  readonly blockBytes: number
}

/**
 * Large bodies that are compressed once, for all readers: one for each name and coding, until another tag is asked
 * for. They are made one after another and beside the event loop (zlib works in threads of its own), so that the
 * work takes one core and the memory of one encoder, whatever is asked for at once.
 */
export class SharedBodies {
  private readonly kept = new Map<string, { readonly tag: string; readonly body: SharedBody }>()
  private last = Promise.resolve()

  /**
   * The body of this name, coding and tag: kept, in the making, or begun now.
   *
   * @param name one of a few constants: each holds a body for each coding
   * @param pieces the plain text, taken piece by piece as the work goes on
   */
  find(name: string, coding: Coding, tag: string, pieces: () => Iterable<Uint8Array>): SharedBody {
    const key = `${coding} ${name}`
    const known = this.kept.get(key)
    if (known?.tag === tag) return known.body
    const body = new SharedBody(coding)
    this.kept.set(key, { tag, body })
    this.last = this.last
      .then(() => encode(pieces(), body))
      .catch((error: Error) => {
        body.fail(error)
        if (this.kept.get(key)?.body === body) this.kept.delete(key)
      })
    return body
  }
}

async function encode(pieces: Iterable<Uint8Array>, body: SharedBody): Promise<void> {
  const encoder = ENCODERS[body.coding]()
  await pipeline(
    Readable.from(inBlocks(pieces, encoder), { objectMode: false }),
    encoder.stream,
    async (coded: AsyncIterable<Buffer>) => {
      for await (const piece of coded) body.add(piece)
    },
  )
  body.finish()
}

async function* inBlocks(
  pieces: Iterable<Uint8Array>,
  { stream, blockBytes }: Encoder,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for (const piece of pieces) {
    yield piece
    bytes += piece.length
    if (bytes < blockBytes) continue
    bytes = 0
    await new Promise<void>((resolve) => stream.flush(constants.BROTLI_OPERATION_FLUSH, resolve))
  }
}

/** A compressed body that may still grow: its readers get what there is, and the rest as it comes. */
export class SharedBody {
  readonly coding: Coding
  /** All of it, once it is made. */
  whole: Buffer | undefined
  private pieces: Buffer[] = []
  private failure: Error | undefined
  private waiting: (() => void)[] = []

  constructor(coding: Coding) {
    this.coding = coding
  }

  /** @throws what stopped the work, after all that was made before */
  async *read(): AsyncGenerator<Uint8Array> {
    if (this.whole) return yield this.whole
    const { pieces } = this
    for (let next = 0; ; ) {
      while (next < pieces.length) yield pieces[next++]!
      if (this.failure) throw this.failure
      if (this.whole) return
      await new Promise<void>((resolve) => this.waiting.push(resolve))
    }
  }

  add(piece: Buffer): void {
    this.pieces.push(piece)
    this.wake()
  }

  finish(): void {
    this.whole = Buffer.concat(this.pieces)
    this.pieces = [] // those who are reading still hold theirs
    this.wake()
  }

  fail(error: Error): void {
    this.failure = error
    this.wake()
  }

  private wake(): void {
    for (const resolve of this.waiting.splice(0)) resolve()
  }
}

/** Answers JSON that is compressed already, or 304 where the reader's copy is still right: then it is not looked for. */
export function answerShared(
  request: FastifyRequest,
  reply: FastifyReply,
  freshness: Freshness,
  coding: Coding,
  findBody: () => SharedBody,
): FastifyReply {
  variesWithCoding(reply)
  if (isStillFresh(request, reply, freshness)) return reply.code(304).send()
  reply.header('content-type', JSON_TYPE).header('content-encoding', coding)
  // Whoever asks with HEAD takes nothing, so nothing is made.
  if (request.method === 'HEAD') return reply.send(Readable.from([]))
  const body = findBody()
  return reply.send(body.whole ?? Readable.from(body.read(), { objectMode: false }))
}
