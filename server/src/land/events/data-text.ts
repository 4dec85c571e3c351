import type { AssetData, DataRow } from '../records/assets.ts'
import { MAX_BYTES, MAX_TEXT_LENGTH } from '../records/checks.ts'

const MAX_VERSION = 2_147_483_647
/** Wrong bytes become U+FFFD. A byte order mark is kept: the contract's text then does not begin with `0`. */
const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true })

type DescribedRow = DataRow & { readonly data_text: string | null; readonly updated_at_ms: number }

/**
 * The row of an asset after its owner wrote a text. The raw text is kept, unless it is longer than any on the chain can
 * be. A text that does not parse leaves the fields of the text before.
 */
export function withText<Row extends DescribedRow>(row: Row, text: Uint8Array, timeMs: number): Row {
  const { data_text, data } =
    text.length > MAX_BYTES ? { data_text: null, data: parseDataText(text) } : sharedText(text)
  if (!data) return { ...row, data_text, updated_at_ms: timeMs }
  return {
    ...row,
    data_version: data.version,
    name: data.name,
    description: data.description,
    ipns: data.ipns,
    data_text,
    updated_at_ms: timeMs,
  }
}

/** A text as it is on the chain, in hex, and its fields; undefined where it does not parse. */
interface ReadText {
  readonly data_text: string
  readonly data: Required<AssetData> | undefined
}

/** Texts that were read last. Owners give the same text to many parcels, whose rows then share it. */
const SHARED_TEXTS = new Map<string, ReadText>()
/** With texts of at most 1,000 bytes, which are 4 kB in memory: 8 MB, and usually far less. */
const MAX_SHARED_TEXTS = 2_000
const MAX_SHARED_BYTES = 1_000

function sharedText(text: Uint8Array): ReadText {
  const data_text = `0x${Buffer.from(text).toString('hex')}`
  const known = SHARED_TEXTS.get(data_text)
  if (known) return known
  const read = { data_text, data: parseDataText(text) }
  if (text.length > MAX_SHARED_BYTES) return read
  if (SHARED_TEXTS.size >= MAX_SHARED_TEXTS) SHARED_TEXTS.clear()
  SHARED_TEXTS.set(data_text, read)
  return read
}

/**
 * Reads `0,name,description,ipns`: the first record of a CSV text whose first character is `0`. Fields that are missing
 * are empty, further ones are ignored. Undefined for any other text, and where a quoted field is not closed properly.
 * Names that look like numbers stay text, unlike in the older service. NUL becomes U+FFFD, as wrong bytes do.
 *
 * @example
 * parseDataText(Buffer.from('0,"Twins, the",x')) // { version: 0, name: 'Twins, the', description: 'x', ipns: '' }
 * parseDataText(Buffer.from('1,name,,')) // undefined
 */
export function parseDataText(text: Uint8Array): Required<AssetData> | undefined {
  const decoded = UTF8.decode(text)
  if (!decoded.startsWith('0')) return undefined
  const fields = firstRecord(decoded)
  if (!fields) return undefined
  const [version = '', name = '', description = '', ipns = ''] = fields
  return {
    version: versionOf(version),
    name: storable(name),
    description: storable(description),
    ipns: storable(ipns),
  }
}

/** The fields of the first record of a CSV text. Undefined where a quoted field is not closed, or text follows its end. */
function firstRecord(text: string): string[] | undefined {
  const fields: string[] = []
  for (let from = 0; ; from++) {
    const isQuoted = text[from] === '"'
    const end = isQuoted ? endOfQuoted(text, from) : endOfPlain(text, from)
    if (end === undefined) return undefined
    const field = text.slice(from, end)
    fields.push(isQuoted ? field.slice(1, -1).replaceAll('""', '"') : field)
    from = end
    if (text[from] !== ',') return fields
  }
}

/** Where a field in quotes ends, after its last quote. Undefined unless a comma, a line break or the end of the text follows. */
function endOfQuoted(text: string, start: number): number | undefined {
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from)
    if (quote === -1) return undefined
    const next = text[quote + 1]
    if (next === undefined || next === ',' || next === '\n' || next === '\r') return quote + 1
    if (next !== '"') return undefined
    from = quote + 2
  }
}

function endOfPlain(text: string, start: number): number {
  FIELD_END.lastIndex = start
  return FIELD_END.exec(text)?.index ?? text.length
}

const FIELD_END = /[,\r\n]/g

/** `0;a` is a version for the CSV reader, and no number: such texts count as version 0. */
function versionOf(field: string): number {
  const version = Number(field)
  return Number.isInteger(version) && version >= 0 && version <= MAX_VERSION ? version : 0
}

/** As the records keep text: without NUL, and not longer than they take, where no character is cut in two. */
function storable(field: string): string {
  const clean = field.replaceAll('\0', '\ufffd')
  if (clean.length <= MAX_TEXT_LENGTH) return clean
  const cut = clean.slice(0, MAX_TEXT_LENGTH)
  return cut.isWellFormed() ? cut : cut.slice(0, -1)
}
