/** One MANA has 10^18 parts: a sum with more decimals cannot have been paid. */
const MAX_DECIMALS = 18
const MAX_INTEGER_DIGITS = 60

/** Longer number tokens are refused without parsing, which would take quadratic time. */
const MAX_TOKEN_LENGTH = 400

const JSON_NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/**
 * The one way to write a sum of money: plain digits, no exponent, no leading or trailing zeros. Undefined when the
 * token is negative, or has more than {@link MAX_DECIMALS} decimals or {@link MAX_INTEGER_DIGITS} digits before them.
 *
 * @param token a JSON number as it stands in the file
 * @example
 * moneyText('16787.030') // '16787.03'
 * moneyText('25e-2') // '0.25'
 * moneyText('-1') // undefined
 */
export function moneyText(token: string): string | undefined {
  const decimal = decimalText(token)
  return decimal?.startsWith('-') ? undefined : decimal
}

/** As {@link moneyText}, negative numbers included. */
export function decimalText(token: string): string | undefined {
  const match = token.length <= MAX_TOKEN_LENGTH ? JSON_NUMBER.exec(token) : null
  if (!match) return undefined
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const all = whole + fraction
  const lead = all.search(/[1-9]/)
  if (lead === -1) return '0'
  const digits = all.slice(lead).replace(/0+$/, '')
  /** How many of the digits stand before the decimal point; negative: zeros follow it first. */
  const point = whole.length + Number(exponent) - lead
  if (point > MAX_INTEGER_DIGITS || digits.length - point > MAX_DECIMALS) return undefined
  if (point >= digits.length) return sign + digits.padEnd(point, '0')
  const decimals = digits.slice(Math.max(point, 0)).padStart(digits.length - point, '0')
  return `${sign}${point > 0 ? digits.slice(0, point) : '0'}.${decimals}`
}
