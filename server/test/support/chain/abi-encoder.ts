/** A value of the contract ABI; a struct is an array of its fields. Bytes and addresses are hex with `0x`. */
export type AbiValue = bigint | boolean | string | readonly AbiValue[]

/**
 * Encodes values as a contract does. It shares no code with the decoder, so that one can be tested by the other.
 *
 * @param types as in the signature of an event
 * @example
 * encodeAbi(['uint256', 'bool'], [5n, true]) // '0x' and two words
 */
export function encodeAbi(types: readonly string[], values: readonly AbiValue[]): string {
  return `0x${encodeAll(types, values)}`
}

/** The topic of an indexed argument. */
export function topicOf(type: string, value: AbiValue): string {
  return `0x${encodeOne(type, value)}`
}

/**
 * The types of a list like `uint256,(address,bytes)[]`.
 *
 * @example
 * splitTypes('uint256,(address,bytes)[]') // ['uint256', '(address,bytes)[]']
 */
export function splitTypes(list: string): string[] {
  const types: string[] = []
  let depth = 0
  let current = ''
  for (const character of list) {
    if (character === '(') depth++
    if (character === ')') depth--
    if (character === ',' && depth === 0) {
      types.push(current)
      current = ''
    } else current += character
  }
  return current === '' ? types : [...types, current]
}

/** The types of a struct's fields, or of an array's item; undefined for other types. */
export function partsOf(type: string): { readonly item: string } | { readonly fields: string[] } | undefined {
  if (type.endsWith('[]')) return { item: type.slice(0, -2) }
  return type.startsWith('(') ? { fields: splitTypes(type.slice(1, -1)) } : undefined
}

function encodeAll(types: readonly string[], values: readonly AbiValue[]): string {
  const headSize = types.reduce((sum, type) => sum + headSizeOf(type), 0)
  let head = ''
  let tail = ''
  types.forEach((type, index) => {
    const encoded = encodeOne(type, values[index]!)
    if (isDynamic(type)) {
      head += wordOf(BigInt(headSize + tail.length / 2))
      tail += encoded
    } else head += encoded
  })
  return head + tail
}

function encodeOne(type: string, value: AbiValue): string {
  const parts = partsOf(type)
  if (parts && 'item' in parts) {
    const items = value as readonly AbiValue[]
    const types = items.map(() => parts.item)
    return wordOf(BigInt(items.length)) + encodeAll(types, items)
  }
  if (parts) return encodeAll(parts.fields, value as readonly AbiValue[])
  if (type === 'bytes' || type === 'string') {
    const digits = (value as string).slice(2)
    return wordOf(BigInt(digits.length / 2)) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0')
  }
  if (type.startsWith('bytes')) return (value as string).slice(2).padEnd(64, '0')
  if (type === 'address') return (value as string).slice(2).padStart(64, '0')
  return wordOf(typeof value === 'boolean' ? BigInt(value) : (value as bigint))
}

function isDynamic(type: string): boolean {
  const parts = partsOf(type)
  return parts ? 'item' in parts || parts.fields.some(isDynamic) : type === 'bytes' || type === 'string'
}

function headSizeOf(type: string): number {
  const parts = partsOf(type)
  const isFlatStruct = parts && 'fields' in parts && !isDynamic(type)
  return isFlatStruct ? parts.fields.reduce((sum, field) => sum + headSizeOf(field), 0) : 32
}

function wordOf(value: bigint): string {
  return BigInt.asUintN(256, value).toString(16).padStart(64, '0')
}
