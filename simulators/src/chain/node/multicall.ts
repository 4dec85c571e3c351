import { Revert, require } from '../contracts/machine.ts'
import { array, bool, bytes, encode, tuple } from '../encoding/abi.ts'
import { bytesOf, hashOfText } from '../encoding/words.ts'

/** The address of Multicall3 on the real networks. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'

const AGGREGATE3 = hashOfText('aggregate3((address,bool,bytes)[])').slice(0, 10)
const WORD_BYTES = 32

interface Call {
  readonly target: string
  readonly mayFail: boolean
  readonly data: string
}

/**
 * `aggregate3` of Multicall3, which makes several calls.
 *
 * @param most calls that the node has gas for; 0 is no limit
 * @throws {Revert} for another function, and where a call fails that must not
 */
export function aggregate3(
  data: string,
  { most, call }: { readonly most: number; readonly call: (target: string, data: string) => string },
): string {
  require(data.startsWith(AGGREGATE3), 'there is no such function')
  const calls = callsIn(data.slice(AGGREGATE3.length))
  require(most === 0 || calls.length <= most, 'out of gas')
  const results = calls.map((one) => {
    try {
      return tuple(bool(true), bytes(bytesOf(call(one.target, one.data))))
    } catch (error) {
      if (error instanceof Revert && one.mayFail) return tuple(bool(false), bytes(new Uint8Array()))
      throw error
    }
  })
  return encode(array(results))
}

function callsIn(digits: string): readonly Call[] {
  const word = (at: number) => digits.slice(2 * at, 2 * (at + WORD_BYTES))
  const number = (at: number) => Number.parseInt(word(at), 16)
  const list = number(0)
  const first = list + WORD_BYTES
  return Array.from({ length: number(list) }, (_, i) => {
    const at = first + number(first + i * WORD_BYTES)
    const data = at + number(at + 2 * WORD_BYTES)
    const start = 2 * (data + WORD_BYTES)
    return {
      target: `0x${word(at).slice(-40)}`,
      mayFail: number(at + WORD_BYTES) === 1,
      data: `0x${digits.slice(start, start + 2 * number(data))}`,
    }
  })
}
