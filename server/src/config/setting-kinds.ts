/**
 * The kind of a setting's value. The check, its description in error texts and in `docs/settings.md`, and the type of
 * the value come from the same kind, so that a bound is written only once.
 */
export interface Kind<T> {
  /** Description for people: a phrase without a full stop. */
  readonly allowed: string
  /** Parses a text; undefined where it is not allowed. */
  parse(text: string): T | undefined
}

/** A whole number from `min` to `max`, both included. */
export interface IntegerKind extends Kind<number> {
  readonly min: number
  readonly max: number
}

/**
 * A whole number in decimal digits, without sign, blanks or exponent.
 *
 * @example
 * integer({ min: 2, max: 100 }).allowed // 'whole number, 2 to 100'
 * integer({ min: 2, max: 100 }).parse('1') // undefined
 */
export function integer({ min, max }: { readonly min: number; readonly max: number }): IntegerKind {
  return {
    min,
    max,
    allowed: `whole number, ${min} to ${max}`,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= min && value <= max ? value : undefined
    },
  }
}

/**
 * One of a list of words, in the same letter case.
 *
 * @example
 * oneOf(['any', 'all']).allowed // 'any or all'
 * oneOf(['low', 'mid', 'high']).allowed // 'low, mid, high'
 */
export function oneOf<const T extends string>(words: readonly T[]): Kind<T> {
  return {
    allowed: words.join(words.length === 2 ? ' or ' : ', '),
    parse: (text) => words.find((word) => word === text),
  }
}

export const boolean: Kind<boolean> = {
  allowed: 'true or false',
  parse: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

/** A text that matches a pattern. */
export function text(allowed: string, form: RegExp): Kind<string> {
  return { allowed, parse: (given) => (form.test(given) ? given : undefined) }
}

/** A text without blanks. */
export const word: Kind<string> = text('text without blanks', /^\S+$/)

/**
 * A web address. Slashes at its end are removed.
 *
 * @example
 * webAddress.parse('https://land.example/api//') // 'https://land.example/api'
 */
export const webAddress: Kind<string> = {
  allowed: 'http:// or https:// address',
  parse: (text) => (/^https?:\/\/[^\s/]+(\/\S*)?$/.test(text) ? text.replace(/\/+$/, '') : undefined),
}

/**
 * A web address with all of some names in braces, as `{x}`, in its path or query, and without a user name.
 *
 * @example
 * addressWith('x', 'y').parse('https://game.example/?position={x},{y}') // the same
 * addressWith('x', 'y').parse('https://game.example/?x={x}') // undefined
 */
export function addressWith(...names: readonly string[]): Kind<string> {
  const marks = names.map((name) => `{${name}}`)
  return {
    allowed: `http:// or https:// address with ${marks.join(' and ')} in it`,
    parse: (text) => {
      const isAddress = /^https?:\/\/[^\s/@{}"<>]+\/[^\s"<>]*$/.test(text)
      return isAddress && marks.every((mark) => text.includes(mark)) ? text : undefined
    },
  }
}

/**
 * Bytes, written as hex digits in any letter case.
 *
 * @example
 * hexBytes({ count: 2 }).parse('00fF') // Buffer 00 ff
 */
export function hexBytes({ count }: { readonly count: number }): Kind<Buffer> {
  const digits = 2 * count
  const form = new RegExp(`^[\\da-fA-F]{${digits}}$`)
  return {
    allowed: `${digits} hex digits`,
    parse: (text) => (form.test(text) ? Buffer.from(text, 'hex') : undefined),
  }
}

/** A value with its own parser, which returns undefined for a text that is not allowed. */
export function parsed<T>(allowed: string, parse: (text: string) => T | undefined): Kind<T> {
  return { allowed, parse }
}
