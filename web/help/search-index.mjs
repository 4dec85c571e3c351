// The index of the search: each part of a page below one heading is an entry.
import MiniSearch from 'minisearch'
import { SEARCH } from './search-options.mjs'

/** @returns the index, as `MiniSearch.loadJS` takes it */
export function searchIndexOf(pages, markdown) {
  const search = new MiniSearch(SEARCH)
  for (const { address, title, language, path, ids, text } of pages)
    for (const { id, heading, words } of partsOf(markdown.parse(text, { path, ids })))
      search.add({ id: id === undefined ? address : `${address}#${id}`, title, heading, words, language })
  return search.toJSON()
}

/** Texts below each heading; the first heading is the title. */
function partsOf(tokens) {
  const parts = []
  let isHeading = false
  for (const token of tokens) {
    if (token.type === 'heading_open') {
      isHeading = true
      parts.push({ id: token.tag === 'h1' ? undefined : token.attrGet('id'), heading: '', words: '' })
    } else if (token.type === 'heading_close') isHeading = false
    else if (parts.length > 0 && (token.type === 'inline' || token.type === 'fence')) {
      const text = token.children ? token.children.map(({ content }) => content).join(' ') : token.content
      if (isHeading) parts.at(-1).heading = text
      else parts.at(-1).words += ` ${text}`
    }
  }
  return parts
}
