/** One MANA in its smallest parts. */
const WEI_PER_MANA = 10n ** 18n
const DECIMALS = 18
const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)
const SECOND_MS = 1000n
/** A deadline above it is in milliseconds: as seconds it would lie 31,000 years ahead. */
const LAST_DEADLINE_IN_SECONDS = 10n ** 12n

/**
 * MANA as exact decimal text, as the columns keep it: no exponent, no zeros at the end.
 *
 * @example
 * manaText(1_500_123_456_789_012_345_678n) // '1500.123456789012345678'
 * manaText(10n ** 18n) // '1'
 */
export function manaText(wei: bigint): string {
  const whole = wei / WEI_PER_MANA
  const part = wei % WEI_PER_MANA
  if (part === 0n) return whole.toString()
  return `${whole}.${part.toString().padStart(DECIMALS, '0').replace(/0+$/, '')}`
}

/**
 * The way back from {@link manaText}. It also takes zeros at the end, which a numeric column may add.
 *
 * @example
 * weiOf('0.5') // 500000000000000000n
 */
export function weiOf(mana: string): bigint {
  const [whole = '', part = ''] = mana.split('.')
  return BigInt(whole) * WEI_PER_MANA + BigInt(part.padEnd(DECIMALS, '0'))
}

/**
 * A whole number of up to 256 bits as a column takes it: cut to 2^53 - 1.
 *
 * @example
 * safeInteger(2n ** 256n - 1n) // 9007199254740991
 */
export function safeInteger(value: bigint): number {
  return value > MAX_SAFE ? Number.MAX_SAFE_INTEGER : Number(value)
}

/** Seconds since 1970, or a length in seconds, as milliseconds: cut to 2^53 - 1. */
export function secondsToMs(seconds: bigint): number {
  return safeInteger(seconds * SECOND_MS)
}

/**
 * A deadline that a caller sent in seconds, or in milliseconds as web pages did, as milliseconds: cut to 2^53 - 1.
 *
 * @example
 * deadlineMs(1_700_000_000n) // 1700000000000
 * deadlineMs(1_700_000_000_000n) // 1700000000000
 */
export function deadlineMs(sent: bigint): number {
  return sent > LAST_DEADLINE_IN_SECONDS ? safeInteger(sent) : secondsToMs(sent)
}
