import { isUtf8 } from 'node:buffer'

/** The longest line read. The longest real one, a district of 8,008 parcels, has 90 kB. */
const MAX_LINE_BYTES = 4 * 1024 * 1024

/** One line of a file, without its line end; `problem` instead of `text` when it could not be read. */
export type Line = { readonly number: number } & (
  | { readonly text: string; readonly problem?: undefined }
  | { readonly problem: string; readonly text?: undefined }
)

const NEWLINE = 0x0a
const BYTE_ORDER_MARK = '\ufeff'
const NOTHING = Buffer.alloc(0)

/**
 * Cuts a stream of bytes into lines at byte 0x0A and nowhere else: names in the data hold U+2028, U+2029 and U+0085,
 * at which line readers that work on text would cut as well.
 *
 * A byte order mark at the start of the first line is skipped: editors of other systems write one.
 *
 * At most {@link MAX_LINE_BYTES} of an unfinished line are held; what is longer is skipped up to its end and
 * reported once.
 */
export class LineSplitter {
  private readonly maxBytes: number
  private pieces: Buffer[] = []
  private heldBytes = 0
  private lineNumber = 0

  constructor(maxBytes: number = MAX_LINE_BYTES) {
    this.maxBytes = maxBytes
  }

  /** The lines that end in this chunk. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = []
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      lines.push(this.finish(chunk.subarray(from, end)))
      from = end + 1
    }
    if (from < chunk.length) this.hold(chunk.subarray(from))
    return lines
  }

  /** The text after the last line end as a line; nothing where the file ends with a line end. */
  end(): Line[] {
    if (this.heldBytes === 0) return []
    const line = this.finish(NOTHING)
    // A file of nothing but a byte order mark has no lines.
    return line.text === '' ? [] : [line]
  }

  private hold(piece: Buffer): void {
    this.heldBytes += piece.length
    if (this.heldBytes <= this.maxBytes) this.pieces.push(piece)
    else this.pieces = []
  }

  private finish(last: Buffer): Line {
    const number = ++this.lineNumber
    const length = this.heldBytes + last.length
    const bytes = this.pieces.length > 0 ? Buffer.concat([...this.pieces, last]) : last
    this.pieces = []
    this.heldBytes = 0
    if (length > this.maxBytes) return { number, problem: `is longer than ${this.maxBytes} bytes` }
    if (!isUtf8(bytes)) return { number, problem: 'is not valid UTF-8' }
    const text = bytes.toString('utf8')
    return { number, text: number === 1 && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text }
  }
}
