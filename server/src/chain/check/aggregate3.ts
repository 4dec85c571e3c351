import { word } from '../../ethereum/words.ts'
import { arrayOf, bool, bytes, readStruct, struct } from '../logs/abi-types.ts'
import { LogData } from '../logs/log-data.ts'
import type { ContractCall } from '../rpc/node.ts'

/** The contract Multicall3, at the same address on every network that has it. */
export const MULTICALL3 = '0xca11bde05977b3631167028862be2a173976ca11'

/** `aggregate3((address target, bool allowFailure, bytes callData)[])` */
const SELECTOR = '82ad56cb'
const WORD_BYTES = 32
const WORD_DIGITS = 64
/** A call has four: target, whether it may fail, offset of its data, length of its data. */
const WORDS_OF_CALL = 4

/** What one of several calls returned. */
export interface CallResult {
  /** False where the contract refused the call, or the call ran out of gas. */
  readonly isSuccess: boolean
  /** Hex. */
  readonly returned: string
}

/**
 * The data of a call of `aggregate3`, which makes several calls, each of which may fail.
 *
 * @example
 * encodeAggregate3([]) // '0x82ad56cb' + '00…20' + '00…00'
 */
export function encodeAggregate3(calls: readonly ContractCall[]): string {
  let offset = calls.length * WORD_BYTES
  let heads = ''
  let tails = ''
  for (const { to, data } of calls) {
    const digits = data.slice(2)
    const padded = digits.padEnd(Math.ceil(digits.length / WORD_DIGITS) * WORD_DIGITS, '0')
    heads += word(offset)
    tails +=
      word(BigInt(to)) + word(1) + word((WORDS_OF_CALL - 1) * WORD_BYTES) + word(digits.length / 2) + padded
    offset += WORDS_OF_CALL * WORD_BYTES + padded.length / 2
  }
  return `0x${SELECTOR}${word(WORD_BYTES)}${word(calls.length)}${heads}${tails}`
}

/**
 * What `aggregate3` returned for its calls, in their order. `0x` is what an address without a contract returns.
 *
 * @throws {UnfitLogError} where it is no list of results
 * @example
 * decodeAggregate3('0x' + '00…20' + '00…00') // []
 */
export function decodeAggregate3(returned: string): readonly CallResult[] {
  return readStruct(RETURNS, new LogData(returned), 0).results
}

const RETURNS = { results: arrayOf(struct({ isSuccess: bool, returned: bytes })) }
