import { type LogData, UnfitLogError } from './log-data.ts'

/** A type of the contract ABI: how its value is read from the data of a log. */
export interface AbiType<Value> {
  /** As in the signature of an event: `uint256`, `(address,bytes)[]`. */
  readonly name: string
  /** Whether the head has only the offset of the value. */
  readonly isDynamic: boolean
  /** Bytes in the head. */
  readonly headBytes: number
  /** @param position where the value begins, in bytes: in the head, or where the offset leads */
  read(data: LogData, position: number): Value
}

/** The values of named types. */
export type ValuesOf<Types> = {
  readonly [Name in keyof Types]: Types[Name] extends AbiType<infer Value> ? Value : never
}

export type NamedTypes = Readonly<Record<string, AbiType<unknown>>>

/** A type of one word. */
export interface WordType<Value> extends AbiType<Value> {
  /** Reads the 64 hex digits of a word. */
  readonly of: (word: string) => Value
}

function word<Value>(name: string, of: (word: string) => Value): WordType<Value> {
  return {
    name,
    isDynamic: false,
    headBytes: 32,
    of,
    read: (data, position) => of(data.word(position)),
  }
}

export const uint256 = word('uint256', (digits) => BigInt(`0x${digits}`))
export const int256 = word('int256', (digits) => BigInt.asIntN(256, BigInt(`0x${digits}`)))
/** 32 bytes in hex, with `0x`. */
export const bytes32 = word('bytes32', (digits) => `0x${digits}`)
/** 4 bytes in hex, with `0x`. */
export const bytes4 = word('bytes4', (digits) => {
  if (!ZEROS.startsWith(digits.slice(8))) throw new UnfitLogError('4 bytes are not followed by zeros')
  return `0x${digits.slice(0, 8)}`
})
/** Lower case. */
export const address = word('address', (digits) => {
  if (!digits.startsWith(ADDRESS_PADDING)) throw new UnfitLogError('an address has more than 20 bytes')
  return `0x${digits.slice(24)}`
})
export const bool = word('bool', (digits) => {
  if (!digits.startsWith(BOOL_PADDING) || (digits[63] !== '0' && digits[63] !== '1'))
    throw new UnfitLogError('a boolean is neither 0 nor 1')
  return digits[63] === '1'
})

const ZEROS = '0'.repeat(64)
const ADDRESS_PADDING = '0'.repeat(24)
const BOOL_PADDING = '0'.repeat(63)

/** Bytes in hex, with `0x`. */
export const bytes = byteString('bytes', (digits) => `0x${digits}`)
/** The bytes of a text. Contracts do not check that they are UTF-8. */
export const string = byteString('string', (digits): Uint8Array => Buffer.from(digits, 'hex'))

/**
 * Zeros after the bytes, up to the end of the word, are neither required nor checked: contracts compiled before 2019
 * have written other bytes there, or none.
 */
function byteString<Value>(name: string, of: (digits: string) => Value): AbiType<Value> {
  return {
    name,
    isDynamic: true,
    headBytes: 32,
    read: (data, position) => of(data.bytes(position + 32, data.size(position))),
  }
}

export function arrayOf<Value>(item: AbiType<Value>): AbiType<readonly Value[]> {
  return {
    name: `${item.name}[]`,
    isDynamic: true,
    headBytes: 32,
    read(data, position) {
      const length = data.size(position)
      const first = position + 32
      // Before anything of this length is made.
      data.requireRoom(first, length * item.headBytes)
      return Array.from({ length }, (_, index) =>
        readItem(item, data, { frame: first, head: first + index * item.headBytes }),
      )
    },
  }
}

export function struct<Types extends NamedTypes>(types: Types): AbiType<ValuesOf<Types>> {
  const all = Object.values(types)
  const isDynamic = all.some((type) => type.isDynamic)
  return {
    name: `(${all.map(({ name }) => name).join(',')})`,
    isDynamic,
    headBytes: isDynamic ? 32 : headBytesOf(types),
    read: (data, position) => readStruct(types, data, position),
  }
}

/**
 * Reads values that stand one after the other.
 *
 * @param frame where the first head begins; offsets count from here
 */
export function readStruct<Types extends NamedTypes>(
  types: Types,
  data: LogData,
  frame: number,
): ValuesOf<Types> {
  const values: Record<string, unknown> = {}
  addStruct(values, { types, data, frame })
  return values as ValuesOf<Types>
}

/** Like {@link readStruct}, and puts the values into an object with others. */
export function addStruct(
  values: Record<string, unknown>,
  { types, data, frame }: { readonly types: NamedTypes; readonly data: LogData; readonly frame: number },
): void {
  let head = frame
  for (const name in types) {
    values[name] = readItem(types[name]!, data, { frame, head })
    head += types[name]!.headBytes
  }
}

/** Bytes of all heads together. */
export function headBytesOf(types: NamedTypes): number {
  return Object.values(types).reduce((sum, { headBytes }) => sum + headBytes, 0)
}

/** @param frame what offsets count from */
function readItem<Value>(
  type: AbiType<Value>,
  data: LogData,
  { frame, head }: { readonly frame: number; readonly head: number },
): Value {
  return type.read(data, type.isDynamic ? frame + data.size(head) : head)
}
