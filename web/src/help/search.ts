import type MiniSearch from 'minisearch'
import type { SearchResult } from 'minisearch'
import { SEARCH } from '../../help/search-options.mjs'

const INDEX = '/docs/search.json'
const MAX_FOUND = 12

/** Answers the search field of the page while the reader types. The index is read when the field is first used. */
export function startSearch(page: Document): void {
  const form = page.querySelector<HTMLFormElement>('.help-search')
  if (!form) return
  const field = form.querySelector('input')!
  const list = form.querySelector<HTMLUListElement>('.help-found')!
  const status = form.querySelector<HTMLParagraphElement>('.help-status')!
  let index: Promise<MiniSearch> | undefined
  const show = async (): Promise<void> => {
    const wanted = field.value.trim()
    try {
      index ??= readIndex()
      const found = wanted === '' ? [] : resultsIn(await index, wanted, page.documentElement.lang)
      // The reader has typed on meanwhile
      if (wanted !== field.value.trim()) return
      list.replaceChildren(...found.map(rowOf))
      list.hidden = found.length === 0
      status.textContent = wanted !== '' && found.length === 0 ? '—' : ''
    } catch {
      index = undefined
      status.textContent = '!'
    }
  }
  field.addEventListener('focus', () => void show())
  field.addEventListener('input', () => void show())
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    list.querySelector('a')?.click()
  })
  form.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape') return
    list.hidden = true
    field.focus()
  })
}

async function readIndex(): Promise<MiniSearch> {
  const [{ default: Search }, answer] = await Promise.all([import('minisearch'), fetch(INDEX)])
  if (!answer.ok) throw new Error(`${INDEX}: ${answer.status}`)
  return Search.loadJS(await answer.json(), SEARCH)
}

/** Best first, in the language of the page. */
export function resultsIn(index: MiniSearch, wanted: string, language: string): SearchResult[] {
  return index.search(wanted, { filter: (result) => result.language === language }).slice(0, MAX_FOUND)
}

function rowOf({ id, title, heading }: SearchResult): HTMLLIElement {
  const row = document.createElement('li')
  const link = document.createElement('a')
  link.href = id
  link.textContent = heading === title ? title : `${title}: ${heading}`
  row.append(link)
  return row
}
