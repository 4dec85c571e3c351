import { isObject } from '../../json-object.ts'

/** An answer that is not what the format or the request allows. The message says what is wrong, without its values. */
export class WrongAnswerError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WrongAnswerError'
  }
}

/**
 * Reads a number of a node's answer: in hex, as the format has it, or in decimals, as some nodes write it.
 *
 * @param name of the field, for the error
 * @throws {WrongAnswerError} for anything but a number from 0 to 2^53 − 1
 * @example
 * readQuantity('0x1F', 'number') // 31
 * readQuantity(31, 'number') // 31
 */
export function readQuantity(value: unknown, name: string): number {
  const isNumber =
    typeof value === 'string' ? /^(?:0x[0-9a-f]{1,64}|[0-9]{1,64})$/i.test(value) : Number.isInteger(value)
  if (!isNumber) throw wrong(name, 'a number in hex')
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < 0) throw wrong(name, 'a number from 0 to 2^53 − 1')
  return number
}

/** Reads a 32-byte hash, in lower case. @throws {WrongAnswerError} */
export function readHash(value: unknown, name: string): string {
  return readHex(value, name, 32)
}

/** Reads an address, in lower case. @throws {WrongAnswerError} */
export function readAddress(value: unknown, name: string): string {
  return readHex(value, name, 20)
}

/**
 * Reads bytes in hex, in lower case.
 *
 * @param bytes how many there must be; any number where it is left out
 * @throws {WrongAnswerError}
 * @example
 * readHex('0xAB', 'data') // '0xab'
 */
export function readHex(value: unknown, name: string, bytes?: number): string {
  if (typeof value !== 'string' || !value.startsWith('0x') || value.length % 2 !== 0)
    throw wrong(name, 'bytes in hex')
  const isLower = isLowerHex(value)
  const hex = isLower ? value : value.toLowerCase()
  if (!isLower && !isLowerHex(hex)) throw wrong(name, 'bytes in hex')
  if (bytes !== undefined && hex.length !== 2 + 2 * bytes) throw wrong(name, `${bytes} bytes`)
  return hex
}

/** Whether all after `0x` are hex digits in lower case, as nearly all nodes write them. */
function isLowerHex(text: string): boolean {
  // A pattern for the whole text would remember each of its characters, and logs may have megabytes
  OTHER_THAN_LOWER_HEX.lastIndex = 2
  return !OTHER_THAN_LOWER_HEX.test(text)
}

const OTHER_THAN_LOWER_HEX = /[^0-9a-f]/g

/** Reads an object. @throws {WrongAnswerError} */
export function readObject(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw wrong(name, 'an object')
  return value
}

/** Reads a list. @throws {WrongAnswerError} */
export function readList(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(name, 'a list')
  return value
}

/** A number as calls send it: `0x` and hex without leading zeros. */
export function hexOfNumber(number: number): string {
  return `0x${number.toString(16)}`
}

function wrong(name: string, expected: string): WrongAnswerError {
  return new WrongAnswerError(`${name} is not ${expected}`)
}
