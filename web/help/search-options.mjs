/** Of the index and of the page that searches it. Accents and letter case do not count. */
export const SEARCH = {
  fields: ['title', 'heading', 'words'],
  storeFields: ['title', 'heading', 'language'],
  processTerm: (/** @type {string} */ term) => term.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase(),
  searchOptions: { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 3, heading: 4 } },
}
