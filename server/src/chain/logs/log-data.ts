/** A log does not fit the layout of its event. The message says why, without the values of the log. */
export class UnfitLogError extends Error {
  override readonly name = 'UnfitLogError'
}

/**
 * The data of a log, read by positions in bytes.
 *
 * Data that a contract encoded say each thing once. Offsets could also lead to the same bytes a thousand times, and make
 * a small log into a large value. So all that is read together may not be more than the data have.
 */
export class LogData {
  readonly #hex: string
  readonly #size: number
  #left: number

  /** @param hex `0x` and hex digits in lower case */
  constructor(hex: string) {
    this.#hex = hex
    this.#size = (hex.length - 2) / 2
    this.#left = this.#size
  }

  /** Length of the data, in bytes. */
  get length(): number {
    return this.#size
  }

  /** The 64 hex digits of a word. */
  word(position: number): string {
    return this.bytes(position, 32)
  }

  /** A word that is a length or an offset, and not larger than the data. */
  size(position: number): number {
    const digits = this.word(position)
    const size = digits.startsWith(SIZE_PADDING) ? Number.parseInt(digits.slice(-SIZE_DIGITS), 16) : Infinity
    if (size > this.#size) throw new UnfitLogError('an offset or a length is larger than the data')
    return size
  }

  /** The hex digits of bytes. */
  bytes(position: number, length: number): string {
    this.requireRoom(position, length)
    this.#left -= length
    if (this.#left < 0) throw new UnfitLogError('offsets lead to the same bytes more than once')
    return this.#hex.slice(2 + position * 2, 2 + (position + length) * 2)
  }

  /** @throws {UnfitLogError} if the data end before */
  requireRoom(position: number, length: number): void {
    if (position + length > this.#size)
      throw new UnfitLogError(`the data end at byte ${this.#size}, before what is expected`)
  }
}

/** Four bytes: more than any log has. */
const SIZE_DIGITS = 8
const SIZE_PADDING = '0'.repeat(64 - SIZE_DIGITS)
