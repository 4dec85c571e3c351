import { codeLengths, codesOf } from './prefix-codes.ts'

/** The longest piece that one match repeats, and the farthest that it reaches back: limits of the format. */
export const MAX_MATCH = 258
export const MIN_MATCH = 3
export const MAX_DISTANCE = 32_768

const END_OF_BLOCK = 256
const FIRST_LENGTH_SYMBOL = 257
const LITERAL_SYMBOLS = 286
const DISTANCE_SYMBOLS = 30
const MAX_CODE_LENGTH = 15
/** The first three bits of a block that brings its own codes. */
const OTHER_BLOCK = 0b100
const LAST_BLOCK = 0b101

/** A block ends when it has so many tokens: 256 kB of them. */
const TOKENS_PER_BLOCK = 65_536
/** The answer's buffer is kept from one answer to the next up to this size. */
const KEPT_BYTES = 256 * 1024

/** The lengths of a table's codes are coded themselves, in this order: those that are often 0 come last. */
const LENGTH_CODE_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
const LENGTH_CODE_SYMBOLS = 19
const MAX_LENGTH_CODE_LENGTH = 7

/** For each length of a match its symbol (9 bits), how far it lies above the symbol's smallest, how many bits tell. */
const LENGTH_TOKENS = new Int32Array(MAX_MATCH + 1)
/** Bits after each symbol of a length, and of a distance. */
const LENGTH_EXTRA_BITS = new Uint8Array(LITERAL_SYMBOLS)
const DISTANCE_EXTRA_BITS = Uint8Array.from({ length: DISTANCE_SYMBOLS }, (_, i) => Math.max(0, (i >> 1) - 1))
layOutLengths()

/**
 * Writes deflate streams (RFC 1951) from literals and matches that its caller has found. It is told what repeats, and
 * so has nothing to search for; each block gets the codes that fit it.
 *
 * A token is 32 bits: symbol (9), what is added to the length (5), symbol of the distance (5), what is added to it (13).
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
  private out = new Uint8Array(KEPT_BYTES)
  private length = 0
  private bits = 0
  private bitCount = 0

  /** Begins a stream, whatever became of the one before. */
  begin(): void {
    this.tokenCount = 0
    this.symbolCounts.fill(0)
    this.distanceCounts.fill(0)
    if (this.out.length > KEPT_BYTES) this.out = new Uint8Array(KEPT_BYTES)
    this.length = 0
    this.bits = 0
    this.bitCount = 0
  }

  /** One byte as it is. */
  literal(byte: number): void {
    if (this.tokenCount === TOKENS_PER_BLOCK) this.endBlock(false)
    this.symbolCounts[byte]!++
    this.tokens[this.tokenCount++] = byte
  }

  /** `length` bytes, 3 or more, like those that lie `distance` bytes before. The two may overlap. */
  match(length: number, distance: number): void {
    let rest = length
    while (rest > MAX_MATCH) {
      // No piece may be too short for a match.
      const piece = rest - MAX_MATCH < MIN_MATCH ? rest - MIN_MATCH : MAX_MATCH
      this.addMatch(piece, distance)
      rest -= piece
    }
    this.addMatch(rest, distance)
  }

  /** Ends the stream. Its bytes are good until the next one begins. */
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
    const steps = packLengths(
      this.symbolLengths.subarray(0, symbols),
      this.distanceLengths.subarray(0, distances),
    )
    const counts = new Int32Array(LENGTH_CODE_SYMBOLS)
    for (const step of steps) counts[step & 31]!++
    const lengths = new Uint8Array(LENGTH_CODE_SYMBOLS)
    const codes = new Int32Array(LENGTH_CODE_SYMBOLS)
    codeLengths(counts, lengths, MAX_LENGTH_CODE_LENGTH)
    codesOf(lengths, codes)
    let told = LENGTH_CODE_SYMBOLS
    while (told > 4 && lengths[LENGTH_CODE_ORDER[told - 1]!] === 0) told--
    this.put(symbols - FIRST_LENGTH_SYMBOL, 5)
    this.put(distances - 1, 5)
    this.put(told - 4, 4)
    for (let i = 0; i < told; i++) this.put(lengths[LENGTH_CODE_ORDER[i]!]!, 3)
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
      // There are fewer than 16 bits waiting here and below, and no piece has more than 16: 32 are enough.
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

  /** Up to 16 bits, the first lowest. */
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

/** No table is larger: 316 lengths of at most 7 bits and 7 bits more, the codes for them, and the rest of a block. */
const MAX_TABLE_BYTES = 600

function layOutLengths(): void {
  for (let length = MIN_MATCH; length < MAX_MATCH; length++) {
    const above = length - MIN_MATCH
    const extraBits = above < 8 ? 0 : 29 - Math.clz32(above)
    const symbol = FIRST_LENGTH_SYMBOL + 4 * extraBits + (above >> extraBits)
    LENGTH_TOKENS[length] = symbol | ((above & ((1 << extraBits) - 1)) << 9)
    LENGTH_EXTRA_BITS[symbol] = extraBits
  }
  // The longest has a symbol of its own.
  LENGTH_TOKENS[MAX_MATCH] = LITERAL_SYMBOLS - 1
}

function lengthWithoutZeros(lengths: Uint8Array, least: number): number {
  let length = lengths.length
  while (length > least && lengths[length - 1] === 0) length--
  return length
}

/** Lengths, with their repetitions said briefly: symbol (5 bits), and above it how often beyond the least. */
function packLengths(symbols: Uint8Array, distances: Uint8Array): number[] {
  const lengths = new Uint8Array(symbols.length + distances.length)
  lengths.set(symbols)
  lengths.set(distances, symbols.length)
  const steps: number[] = []
  for (let from = 0; from < lengths.length; ) {
    const length = lengths[from]!
    let to = from + 1
    while (to < lengths.length && lengths[to] === length) to++
    if (length > 0) {
      steps.push(length)
      from++
    }
    from = length === 0 ? packZeros(steps, from, to) : packAgain(steps, from, to)
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

function packAgain(steps: number[], start: number, to: number): number {
  let from = start
  while (to - from >= 3) {
    const count = Math.min(to - from, 6)
    steps.push(16 | ((count - 3) << 5))
    from += count
  }
  return from
}
