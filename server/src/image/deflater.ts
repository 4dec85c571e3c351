import { codeLengths, codesOf } from './prefix-codes.ts'

/** Limits of the format: the length of a match in bytes, and how many bytes back it may refer. */
export const MAX_MATCH = 258
export const MIN_MATCH = 3
export const MAX_DISTANCE = 32_768

const END_OF_BLOCK = 256
const FIRST_LENGTH_SYMBOL = 257
const LITERAL_SYMBOLS = 286
const DISTANCE_SYMBOLS = 30
const MAX_CODE_LENGTH = 15
/** The first three bits of a block with its own ("dynamic") codes. */
const OTHER_BLOCK = 0b100
const LAST_BLOCK = 0b101

/** A block has at most so many tokens: 256 kB of memory. */
const TOKENS_PER_BLOCK = 65_536
/** Size of the output buffer that is reused for the next stream. A larger one is dropped. */
const REUSED_BYTES = 256 * 1024

/**
 * RFC 1951: the order in which the lengths of the codes for code lengths are written. Those that are often 0 come last.
 */
const LENGTH_CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
const LENGTH_CODE_SYMBOLS = 19
const MAX_LENGTH_CODE_LENGTH = 7

/** For each length of a match its symbol (9 bits), and above it the value of the extra bits. */
const LENGTH_TOKENS = new Int32Array(MAX_MATCH + 1)
/** Bits after each symbol of a length, and of a distance. */
const LENGTH_EXTRA_BITS = new Uint8Array(LITERAL_SYMBOLS)
const DISTANCE_EXTRA_BITS = Uint8Array.from({ length: DISTANCE_SYMBOLS }, (_, i) => Math.max(0, (i >> 1) - 1))
layOutLengths()

/**
 * Writes deflate streams (RFC 1951) from literals and matches. The caller finds the matches, so the deflater does not
 * search for repetitions. Each block has its own prefix codes.
 *
 * A token has 32 bits: symbol (9), extra bits of the length (5), symbol of the distance (5), extra bits of the distance
 * (13).
 */
export class Deflater {
  private readonly tokens = new Int32Array(TOKENS_PER_BLOCK)
  private tokenCount = 0
  private readonly symbolCounts = new Int32Array(LITERAL_SYMBOLS)
  private readonly distanceCounts = new Int32Array(DISTANCE_SYMBOLS)
  private readonly symbolLengths = new Uint8Array(LITERAL_SYMBOLS)
  private readonly distanceLengths = new Uint8Array(DISTANCE_SYMBOLS)
  private readonly symbolCodes = new Int32Array(LITERAL_SYMBOLS)
  private readonly distanceCodes = new Int32Array(DISTANCE_SYMBOLS)
  private readonly blockLengths = new Uint8Array(LITERAL_SYMBOLS + DISTANCE_SYMBOLS)
  private readonly lengthCounts = new Int32Array(LENGTH_CODE_SYMBOLS)
  private readonly lengthLengths = new Uint8Array(LENGTH_CODE_SYMBOLS)
  private readonly lengthCodes = new Int32Array(LENGTH_CODE_SYMBOLS)
  private out = new Uint8Array(REUSED_BYTES)
  private length = 0
  private bits = 0
  private bitCount = 0

  /** Begins a stream. One that is not finished is dropped. */
  begin(): void {
    this.tokenCount = 0
    this.symbolCounts.fill(0)
    this.distanceCounts.fill(0)
    if (this.out.length > REUSED_BYTES) this.out = new Uint8Array(REUSED_BYTES)
    this.length = 0
    this.bits = 0
    this.bitCount = 0
  }

  /** Adds a byte. */
  literal(byte: number): void {
    if (this.tokenCount === TOKENS_PER_BLOCK) this.endBlock(false)
    this.symbolCounts[byte]!++
    this.tokens[this.tokenCount++] = byte
  }

  /** Adds `length` bytes, 3 or more, equal to those `distance` bytes before. The two ranges may overlap. */
  match(length: number, distance: number): void {
    let rest = length
    while (rest > MAX_MATCH) {
      // The rest must not be too short for a match.
      const piece = rest - MAX_MATCH < MIN_MATCH ? rest - MIN_MATCH : MAX_MATCH
      this.addMatch(piece, distance)
      rest -= piece
    }
    this.addMatch(rest, distance)
  }

  /** Ends the stream. The returned bytes are valid until the next stream begins. */
  finish(): Uint8Array {
    this.endBlock(true)
    this.reserve(4)
    while (this.bitCount > 0) this.putByte()
    return this.out.subarray(0, this.length)
  }

  private addMatch(length: number, distance: number): void {
    if (this.tokenCount === TOKENS_PER_BLOCK) this.endBlock(false)
    const lengthToken = LENGTH_TOKENS[length]!
    const before = distance - 1
    let symbol = before
    let added = 0
    if (before >= 4) {
      const extraBits = 30 - Math.clz32(before)
      symbol = 2 * extraBits + (before >> extraBits)
      added = before & ((1 << extraBits) - 1)
    }
    this.symbolCounts[lengthToken & 511]!++
    this.distanceCounts[symbol]!++
    this.tokens[this.tokenCount++] = lengthToken | (symbol << 14) | (added << 19)
  }

  private endBlock(isLast: boolean): void {
    this.symbolCounts[END_OF_BLOCK] = 1
    codeLengths(this.symbolCounts, this.symbolLengths, MAX_CODE_LENGTH)
    codeLengths(this.distanceCounts, this.distanceLengths, MAX_CODE_LENGTH)
    codesOf(this.symbolLengths, this.symbolCodes)
    codesOf(this.distanceLengths, this.distanceCodes)
    this.reserve(MAX_TABLE_BYTES + Math.ceil(this.bitsOfTokens() / 8))
    this.put(isLast ? LAST_BLOCK : OTHER_BLOCK, 3)
    this.putTables()
    this.putTokens()
    this.putCode(this.symbolCodes[END_OF_BLOCK]!)
    this.tokenCount = 0
    this.symbolCounts.fill(0)
    this.distanceCounts.fill(0)
  }

  private bitsOfTokens(): number {
    let bits = 0
    for (let i = 0; i < LITERAL_SYMBOLS; i++) {
      bits += this.symbolCounts[i]! * (this.symbolLengths[i]! + LENGTH_EXTRA_BITS[i]!)
    }
    for (let i = 0; i < DISTANCE_SYMBOLS; i++) {
      bits += this.distanceCounts[i]! * (this.distanceLengths[i]! + DISTANCE_EXTRA_BITS[i]!)
    }
    return bits
  }

  private putTables(): void {
    const symbols = lengthWithoutZeros(this.symbolLengths, FIRST_LENGTH_SYMBOL)
    const distances = lengthWithoutZeros(this.distanceLengths, 1)
    this.blockLengths.set(this.symbolLengths)
    this.blockLengths.set(this.distanceLengths, symbols)
    const steps = packLengths(this.blockLengths, symbols + distances)
    const { lengthCounts: counts, lengthLengths: lengths, lengthCodes: codes } = this
    counts.fill(0)
    for (const step of steps) counts[step & 31]!++
    codeLengths(counts, lengths, MAX_LENGTH_CODE_LENGTH)
    codesOf(lengths, codes)
    let lengthCount = LENGTH_CODE_SYMBOLS
    while (lengthCount > 4 && lengths[LENGTH_CODE_ORDER[lengthCount - 1]!] === 0) lengthCount--
    this.put(symbols - FIRST_LENGTH_SYMBOL, 5)
    this.put(distances - 1, 5)
    this.put(lengthCount - 4, 4)
    for (let i = 0; i < lengthCount; i++) this.put(lengths[LENGTH_CODE_ORDER[i]!]!, 3)
    for (const step of steps) {
      const symbol = step & 31
      this.putCode(codes[symbol]!)
      if (symbol >= 16) this.put(step >> 5, symbol === 16 ? 2 : symbol === 17 ? 3 : 7)
    }
  }

  private putTokens(): void {
    const { tokens, symbolCodes, distanceCodes, tokenCount } = this
    const out = this.out
    let { length, bits, bitCount } = this
    for (let i = 0; i < tokenCount; i++) {
      const token = tokens[i]!
      const symbol = token & 511
      const code = symbolCodes[symbol]!
      // `bits` holds fewer than 16 bits here and below, and each addition has at most 16: 32 are enough.
      bits |= (code & 0xffff) << bitCount
      bitCount += code >> 16
      if (bitCount >= 16) {
        out[length++] = bits
        out[length++] = bits >> 8
        bits >>>= 16
        bitCount -= 16
      }
      if (symbol < FIRST_LENGTH_SYMBOL) continue
      const distanceSymbol = (token >> 14) & 31
      const distanceCode = distanceCodes[distanceSymbol]!
      bits |= ((token >> 9) & 31) << bitCount
      bitCount += LENGTH_EXTRA_BITS[symbol]!
      if (bitCount >= 16) {
        out[length++] = bits
        out[length++] = bits >> 8
        bits >>>= 16
        bitCount -= 16
      }
      bits |= (distanceCode & 0xffff) << bitCount
      bitCount += distanceCode >> 16
      if (bitCount >= 16) {
        out[length++] = bits
        out[length++] = bits >> 8
        bits >>>= 16
        bitCount -= 16
      }
      bits |= (token >>> 19) << bitCount
      bitCount += DISTANCE_EXTRA_BITS[distanceSymbol]!
      if (bitCount >= 16) {
        out[length++] = bits
        out[length++] = bits >> 8
        bits >>>= 16
        bitCount -= 16
      }
    }
    this.length = length
    this.bits = bits
    this.bitCount = bitCount
  }

  private putCode(code: number): void {
    this.put(code & 0xffff, code >> 16)
  }

  /** Writes up to 16 bits, the lowest first. */
  private put(bits: number, count: number): void {
    this.bits |= bits << this.bitCount
    this.bitCount += count
    while (this.bitCount >= 8) this.putByte()
  }

  private putByte(): void {
    this.out[this.length++] = this.bits
    this.bits >>>= 8
    this.bitCount = Math.max(0, this.bitCount - 8)
  }

  private reserve(bytes: number): void {
    if (this.length + bytes <= this.out.length) return
    const larger = new Uint8Array(2 * (this.length + bytes))
    larger.set(this.out.subarray(0, this.length))
    this.out = larger
  }
}

/**
 * The most bytes of the tables of a block: 316 lengths of at most 7 + 7 bits, the codes for them, and the rest of a
 * block.
 */
const MAX_TABLE_BYTES = 600

function layOutLengths(): void {
  for (let length = MIN_MATCH; length < MAX_MATCH; length++) {
    const above = length - MIN_MATCH
    const extraBits = above < 8 ? 0 : 29 - Math.clz32(above)
    const symbol = FIRST_LENGTH_SYMBOL + 4 * extraBits + (above >> extraBits)
    LENGTH_TOKENS[length] = symbol | ((above & ((1 << extraBits) - 1)) << 9)
    LENGTH_EXTRA_BITS[symbol] = extraBits
  }
  // The longest match has its own symbol, without extra bits.
  LENGTH_TOKENS[MAX_MATCH] = LITERAL_SYMBOLS - 1
}

function lengthWithoutZeros(lengths: Uint8Array, least: number): number {
  let length = lengths.length
  while (length > least && lengths[length - 1] === 0) length--
  return length
}

/** Run-length encodes the first `count` code lengths (RFC 1951, 3.2.7). A step is a symbol (5 bits), and above it its extra bits. */
function packLengths(lengths: Uint8Array, count: number): number[] {
  const steps: number[] = []
  for (let from = 0; from < count; ) {
    const length = lengths[from]!
    let to = from + 1
    while (to < count && lengths[to] === length) to++
    if (length > 0) {
      steps.push(length)
      from++
    }
    from = length === 0 ? packZeros(steps, from, to) : packRepeats(steps, from, to)
    for (; from < to; from++) steps.push(length)
  }
  return steps
}

function packZeros(steps: number[], start: number, to: number): number {
  let from = start
  while (to - from >= 3) {
    const count = Math.min(to - from, 138)
    steps.push(count > 10 ? 18 | ((count - 11) << 5) : 17 | ((count - 3) << 5))
    from += count
  }
  return from
}

function packRepeats(steps: number[], start: number, to: number): number {
  let from = start
  while (to - from >= 3) {
    const count = Math.min(to - from, 6)
    steps.push(16 | ((count - 3) << 5))
    from += count
  }
  return from
}
