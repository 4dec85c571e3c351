import { Contract } from '../contracts/machine.ts'
import { type Address, bytesOf, hexOf } from '../encoding/words.ts'

/** JSON with what it lacks: `{"$n":"12"}` is a big integer, `{"$x":"0x…"}` are bytes, `{"$c":"0x…"}` is the contract there. */
export function toStored(value: unknown): unknown {
  if (typeof value === 'bigint') return { $n: String(value) }
  if (value instanceof Uint8Array) return { $x: hexOf(value) }
  if (value instanceof Contract) return { $c: value.address }
  if (Array.isArray(value)) return value.map(toStored)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, toStored(one)]))
}

/**
 * The way back from {@link toStored}.
 *
 * @param contracts by address; of those values that name some
 * @throws RangeError for a contract that is not there
 * @example
 * fromStored(toStored({ priceWei: 12n })) // { priceWei: 12n }
 */
export function fromStored(
  value: unknown,
  contracts: ReadonlyMap<Address, Contract> = NO_CONTRACTS,
): unknown {
  if (Array.isArray(value)) return value.map((one) => fromStored(one, contracts))
  if (typeof value !== 'object' || value === null) return value
  const { $n, $x, $c } = value as { readonly $n?: string; readonly $x?: string; readonly $c?: Address }
  if ($n !== undefined) return BigInt($n)
  if ($x !== undefined) return bytesOf($x)
  if ($c !== undefined) {
    const contract = contracts.get($c)
    if (!contract) throw new RangeError(`there is no contract ${$c}`)
    return contract
  }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, fromStored(one, contracts)]))
}

const NO_CONTRACTS: ReadonlyMap<Address, Contract> = new Map()
