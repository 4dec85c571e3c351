/** Chinese is written without spaces: each two characters that follow each other are a word. */
const HAN = /\p{Script=Han}/u
const BETWEEN_WORDS = /[\s\p{Z}\p{P}]+/u

/** Options of the index and of the page that searches it. Accents and letter case do not count. */
export const SEARCH = {
  fields: ['title', 'heading', 'words'],
  storeFields: ['title', 'heading', 'language'],
  tokenize: (/** @type {string} */ text) => text.split(BETWEEN_WORDS).flatMap(pairsIn),
  processTerm: (/** @type {string} */ term) => term.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase(),
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 3, heading: 4 } },
}

/** @param {string} word */
function pairsIn(word) {
  if (!HAN.test(word) || word.length < 2) return [word]
  return Array.from({ length: word.length - 1 }, (_, i) => word.slice(i, i + 2))
}
