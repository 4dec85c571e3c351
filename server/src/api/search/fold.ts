/**
 * Text as search compares it: one form for all ways to write the same. Compatibility forms are taken apart (NFKD),
 * marks and signs that nobody sees are dropped, and whitespace is one space. It is made of capitals: lower case would
 * depend on where in a word a letter stands (Greek σ, ς), and would keep ß apart from ss.
 *
 * Text of nothing but marks keeps them, so that only blank text becomes empty.
 *
 * @example
 * foldText('  Élan\tCafé ') // 'ELAN CAFE'
 * foldText('Straße') // 'STRASSE'
 * foldText('（１２，−３４）') // '(12,-34)'
 */
export function foldText(text: string): string {
  if (ASCII.test(text)) return simplify(text)
  const decomposed = text.normalize('NFKD')
  return simplify(decomposed.replace(UNSEEN, '')) || simplify(decomposed)
}

const ASCII = /^[\0-\x7f]*$/
/** Combining marks, and what only steers how the text around it is shown (joiners, directions, soft hyphens). */
const UNSEEN = /[\p{M}\p{Cf}]+/gu
const WHITESPACE = /\s+/g

/** What keyboards lack and Unicode does not take apart: people type what stands beside it. */
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
