/** Digits, also with separators of thousands; those of India stand after every second digit. */
const WHOLE = /^(?:\d+|[1-9]\d{0,2}([ .,'’])(?:\d{2,3}\1)*\d{3})$/

/**
 * A number as people type it, as decimal digits with a point. Where its last separator can separate decimals or
 * thousands, it is read as the locale writes numbers; all else is understood in every locale.
 *
 * @returns undefined for what is no number
 * @example
 * readNumber('10.000', 'es') // '10000'
 * readNumber('6899,98', 'en') // '6899.98'
 */
export function readNumber(typed: string, locale: string): string | undefined {
  const number = typed.normalize('NFKC').trim()
  const [, before = '', mark = '', after = ''] = /^(.+)([.,])(\d+)$/.exec(number) ?? []
  const isWhole = mark === '' || before.includes(mark) || (mark !== decimalMark(locale) && WHOLE.test(number))
  const digits = isWhole ? number : before
  if (!WHOLE.test(digits)) return undefined
  const whole = digits.replace(/\D/g, '')
  return isWhole ? whole : `${whole}.${after}`
}

/** Decimal digits with a point as the locale writes them, without separators of thousands. */
export function writeNumber(digits: string, locale: string): string {
  return digits.replace('.', decimalMark(locale))
}

function decimalMark(locale: string): string {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5)
  return parts.find(({ type }) => type === 'decimal')?.value ?? '.'
}
