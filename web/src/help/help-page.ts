import '../ui/base.css'
import './help.css'
import { startTheme } from '../theme.ts'
import { showOwnAddress } from './own-address.ts'
import { startSearch } from './search.ts'
import { offerThemes } from './theme-choice.ts'
import { answerCalls } from './try-call.ts'

/** What a page of `/docs` does besides being read: the reader's theme, the server's address, the search, and calls that are tried. */
startTheme(new URLSearchParams(location.search).get('theme'))
document.addEventListener('DOMContentLoaded', () => {
  // On a phone the text comes first
  const contents = document.querySelector<HTMLDetailsElement>('.help-contents details')
  if (contents && matchMedia('(max-width: 60rem)').matches) contents.open = false
  showOwnAddress(document, location.origin)
  offerThemes(document)
  startSearch(document)
  answerCalls(document)
})
