import { landAssetsOf } from '../../state/parts/land-assets.ts'
import { CHUNK_ROWS, type JsonBuffer } from '../../state/parts/parts.ts'
import type { State } from '../../state/state.ts'
import { foldText } from '../common/fold.ts'
import { WorkSlice } from '../common/work-slice.ts'
import type { Marks } from './land-matches.ts'

/**
 * The names and descriptions of assets, folded. They are made from the JSON of the state, a chunk at a time, when they are first
 * needed, and held as long as the chunk is: a change makes those of its chunk again.
 *
 * With 90,601 parcels, of which 17,000 have a name: some 2 MB.
 */

/** The texts of some rows. */
interface TextChunk {
  /** A line feed before each text and after the last. */
  readonly text: string
  /** Where each text begins, and where one more would begin. */
  readonly starts: readonly number[]
  /** Rows within the chunk. */
  readonly rows: readonly number[]
}

const known = new WeakMap<object, TextChunk>()

/** No folded text contains it. */
const SEPARATOR = '\n'

/**
 * The assets whose name or description contains each word of a text; case and accents are ignored.
 *
 * @param among only these are looked at
 */
export async function assetsWithText({ parts }: State, text: string, among?: Uint32Array): Promise<Marks> {
  const words = foldText(text).split(' ')
  const assets = landAssetsOf(parts)
  const marks = new Uint8Array(assets.count)
  if (among) {
    for (const asset of among) {
      const [json, row] =
        asset < assets.estates ? [parts.estates.json, asset] : [parts.parcels.json, asset - assets.estates]
      const texts = textsOf(json.chunks[Math.floor(row / CHUNK_ROWS)]!)
      const place = texts.rows.indexOf(row % CHUNK_ROWS)
      const one = place < 0 ? '' : texts.text.slice(texts.starts[place]!, texts.starts[place + 1]!)
      marks[asset] = Number(words.every((word) => one.includes(word)))
    }
    return marks
  }
  const slice = new WorkSlice()
  for (const [first, { chunks }] of [
    [0, parts.estates.json] as const,
    [assets.estates, parts.parcels.json] as const,
  ]) {
    for (const [number, chunk] of chunks.entries()) {
      for (const row of rowsWith(textsOf(chunk), words)) {
        const asset = first + number * CHUNK_ROWS + row
        if (asset < assets.count) marks[asset] = 1
      }
      if (slice.isOver) await slice.next()
    }
  }
  return marks
}

/** The rows whose texts contain all of the words. */
function* rowsWith({ text, starts, rows }: TextChunk, words: readonly string[]): Generator<number> {
  const [first = '', ...others] = words
  for (let at = text.indexOf(first), i = 0; at >= 0; at = text.indexOf(first, starts[i]!)) {
    while (starts[i + 1]! <= at) i += 1
    const one = text.slice(starts[i]!, starts[i + 1]!)
    if (others.every((word) => one.includes(word))) yield rows[i]!
    i += 1
    if (i === rows.length) return
  }
}

type Chunk = JsonBuffer['chunks'][number]

function textsOf(chunk: Chunk): TextChunk {
  const found = known.get(chunk)
  if (found) return found
  const made = collect(chunk)
  known.set(chunk, made)
  return made
}

/** Both stand in `data`, in this order. A quote within a text has a backslash before it, so no text contains these bytes. */
const KEYS = [Buffer.from('"name":"'), Buffer.from('"description":"')]
const QUOTE = 0x22
const BACKSLASH = 0x5c

function collect({ values, starts }: Chunk): TextChunk {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
  const textOf = new Map<number, string>()
  for (const key of KEYS) {
    let row = 0
    for (let at = bytes.indexOf(key); at >= 0; at = bytes.indexOf(key, at + key.length)) {
      while (starts[row + 1]! <= at) row += 1
      const text = textAt(bytes, at + key.length - 1)
      if (text !== '') textOf.set(row, `${textOf.get(row) ?? ''} ${text}`)
    }
  }
  const rows = [...textOf.keys()].sort((a, b) => a - b)
  const texts = rows.map((row) => foldText(textOf.get(row)!))
  const begins = [SEPARATOR.length]
  for (const text of texts) begins.push(begins.at(-1)! + text.length + SEPARATOR.length)
  return { text: ['', ...texts, ''].join(SEPARATOR), starts: begins, rows }
}

/** The JSON string that begins at a quote. */
function textAt(bytes: Buffer, quote: number): string {
  let end = quote + 1
  while (bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1
  return JSON.parse(bytes.toString('utf8', quote, end + 1)) as string
}
