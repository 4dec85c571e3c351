import { landAssetsOf } from '../../state/parts/land-assets.ts'
import { NumberSet } from '../../state/parts/number-set.ts'
import { CHUNK_ROWS, type JsonBuffer, type StateParts } from '../../state/parts/parts.ts'
import type { State } from '../../state/state.ts'
import { foldText } from '../common/fold.ts'
import { PromiseCache } from '../common/promise-cache.ts'
import { WorkSlice } from '../common/work-slice.ts'

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

const textsByChunk = new WeakMap<object, TextChunk>()

/** No folded text contains it. */
const SEPARATOR = '\n'

/**
 * Where a query leaves at least this many assets, its text is searched for in the whole world, and the result is cached: the next page
 * asks for the same text. For fewer assets only they are searched, unless the text is cached.
 */
const MIN_ASSETS_TO_CACHE = 2_000
const MAX_TEXTS = 32
/** The assets of the whole world that have a text, by the words of the text. */
const foundByText = new WeakMap<StateParts, PromiseCache<NumberSet>>()

/** The given assets whose name or description contains each word of a text; case, accents and punctuation at the ends of words are ignored. */
export async function assetsWithText({ parts }: State, text: string, assets: NumberSet): Promise<NumberSet> {
  const words = wordsOf(text)
  const cache = foundByText.get(parts) ?? new PromiseCache(MAX_TEXTS)
  foundByText.set(parts, cache)
  const key = words.join(' ')
  const found =
    assets.count() < MIN_ASSETS_TO_CACHE
      ? cache.find(key)
      : cache.get(key, () => search(parts, words, landAssetsOf(parts).all))
  return found ? assets.keep(await found) : search(parts, words, assets)
}

async function search(parts: StateParts, words: readonly string[], assets: NumberSet): Promise<NumberSet> {
  const { estates, count } = landAssetsOf(parts)
  const found = new NumberSet(count)
  const slice = new WorkSlice()
  const next = new Uint32Array(1)
  for (let from = 0; assets.read(next, from) > 0; ) {
    const isEstate = next[0]! < estates
    const [json, first] = isEstate ? [parts.estates.json, 0] : [parts.parcels.json, estates]
    const number = Math.floor((next[0]! - first) / CHUNK_ROWS)
    const start = first + number * CHUNK_ROWS
    for (const row of rowsWith(textsOf(json.chunks[number]!), words))
      if (assets.has(start + row)) found.add(start + row)
    from = isEstate ? Math.min(start + CHUNK_ROWS, estates) : start + CHUNK_ROWS
    if (slice.isOver) await slice.next()
  }
  return found
}

const PUNCTUATION_AT_ENDS = /^\p{P}+|\p{P}+$/gu

/** Folded words without punctuation at their ends; as they are if nothing would be left. */
function wordsOf(text: string): readonly string[] {
  const words = foldText(text).split(' ')
  const bare = words.map((word) => word.replace(PUNCTUATION_AT_ENDS, '')).filter((word) => word !== '')
  return bare.length > 0 ? bare : words
}

/** The rows whose texts contain all of the words. */
function* rowsWith({ text, starts, rows }: TextChunk, words: readonly string[]): Generator<number> {
  const [first = '', ...others] = words
  for (let at = text.indexOf(first), i = 0; at >= 0; at = text.indexOf(first, starts[i]!)) {
    while (starts[i + 1]! <= at) i += 1
    const [start, end] = [starts[i]!, starts[i + 1]!]
    if (others.every((word) => text.slice(start, end).includes(word))) yield rows[i]!
    i += 1
    if (i === rows.length) return
  }
}

type Chunk = JsonBuffer['chunks'][number]

function textsOf(chunk: Chunk): TextChunk {
  const cached = textsByChunk.get(chunk)
  if (cached) return cached
  const made = collect(chunk)
  textsByChunk.set(chunk, made)
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
