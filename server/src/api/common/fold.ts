/**
 * The form in which search compares text, equal for all spellings of the same text. Characters are decomposed (NFKD),
 * combining marks and invisible characters are removed, and whitespace becomes one space. Letters become upper case:
 * lower case depends on the position in a word (Greek σ, ς), and does not unite ß with ss.
 *
 * Marks are kept in text that has nothing else, so that only blank text becomes empty.
 *
 * @example
 * foldText('  Élan\tCafé ') // 'ELAN CAFE'
 * foldText('Straße') // 'STRASSE'
 * foldText('（１２，−３４）') // '(12,-34)'
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return simplify(text)
  const decomposed = text.normalize('NFKD')
  return simplify(decomposed.replace(INVISIBLE, '')) || simplify(decomposed)
}

const ASCII = /^[\0-\x7f]*$/
/** Combining marks, and invisible format characters (joiners, directions, soft hyphens). */
const INVISIBLE = /[\p{M}\p{Cf}]+/gu
const WHITESPACE = /\s+/g

/** Characters that Unicode does not decompose and many keyboards lack, with the text that people type instead. */
const PLAIN: ReadonlyMap<string, string> = new Map([
  ['Đ', 'D'],
  ['Ð', 'D'],
  ['Ł', 'L'],
  ['Ø', 'O'],
  ['Æ', 'AE'],
  ['Œ', 'OE'],
  ['‘', "'"],
  ['’', "'"],
  ['“', '"'],
  ['”', '"'],
  ['‐', '-'],
  ['–', '-'],
  ['—', '-'],
  ['−', '-'],
])
const NOT_PLAIN = new RegExp(`[${[...PLAIN.keys()].join('')}]`, 'g')

function simplify(text: string): string {
  return text
    .toUpperCase()
    .replace(NOT_PLAIN, (sign) => PLAIN.get(sign) ?? sign)
    .replace(WHITESPACE, ' ')
    .trim()
}
