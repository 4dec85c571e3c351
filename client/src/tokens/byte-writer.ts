import { hexBytes, utf8, writeHex, writeNumber } from './bytes.ts'

/** Enough for what is signed of a token: the bytes then grow once at most. */
const FIRST_BYTES = 512
const WORD_BYTES = 32

/**
 * Writes values one after the other, each at once in its place: what is hashed of a token has up to a dozen of them.
 *
 * @example
 * new ByteWriter().number(2, 2).hex('0xff').written() // Uint8Array [0, 2, 255]
 */
export class ByteWriter {
  /** What is not written yet is zero. */
  private bytes = new Uint8Array(FIRST_BYTES)
  private length = 0

  /** A whole number as `length` bytes, big endian; the highest bytes of a longer one are left out. */
  number(value: bigint | number, length = WORD_BYTES): this {
    const at = this.take(length)
    writeNumber(value, this.bytes, at, length)
    return this
  }

  /** The bytes of a hex text. @throws {RangeError} for another text */
  hex(text: string): this {
    const at = this.take(hexBytes(text))
    writeHex(text, this.bytes, at)
    return this
  }

  /** The bytes of a hex text on the right of a word of 32. @throws {RangeError} for another text */
  hexWord(text: string): this {
    return this.zeros(WORD_BYTES - hexBytes(text)).hex(text)
  }

  /** A text in UTF-8. */
  text(text: string): this {
    return this.put(utf8(text))
  }

  put(bytes: Uint8Array): this {
    const at = this.take(bytes.length)
    this.bytes.set(bytes, at)
    return this
  }

  zeros(count: number): this {
    this.take(count)
    return this
  }

  /** All bytes so far: a part of a larger array, which further values may change or leave. */
  written(): Uint8Array {
    return this.bytes.subarray(0, this.length)
  }

  /** Makes room for further bytes. @returns where they begin */
  private take(count: number): number {
    if (count < 0) throw new RangeError(`${count} bytes`)
    const at = this.length
    this.length += count
    if (this.length > this.bytes.length) {
      const larger = new Uint8Array(2 * this.length)
      larger.set(this.bytes)
      this.bytes = larger
    }
    return at
  }
}
