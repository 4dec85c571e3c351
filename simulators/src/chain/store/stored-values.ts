import { bytesOf, hexOf } from '../encoding/words.ts'

/** JSON with what it lacks: `{"$n":"12"}` is a big integer, `{"$x":"0x…"}` are bytes. */
export function toStored(value: unknown): unknown {
  if (typeof value === 'bigint') return { $n: String(value) }
  if (value instanceof Uint8Array) return { $x: hexOf(value) }
  if (Array.isArray(value)) return value.map(toStored)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toStored(one)]))
}

/**
 * The way back from {@link toStored}.
 *
 * @example
 * fromStored(toStored({ priceWei: 12n })) // { priceWei: 12n }
 */
export function fromStored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromStored)
  if (typeof value !== 'object' || value === null) return value
  const { $n, $x } = value as { readonly $n?: string; readonly $x?: string }
  if ($n !== undefined) return BigInt($n)
  if ($x !== undefined) return bytesOf($x)
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fromStored(one)]))
}
