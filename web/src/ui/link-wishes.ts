import { language } from '../texts/texts.ts'
import { themeChoice } from '../theme/theme.ts'

/**
 * A link may say in which language and theme it is to be read (`?lang=fr&theme=dark`). That holds for the pages that are
 * reached from there too, and gives way to what the reader chooses.
 */

/** The address of another of our pages, with the wishes of the link that led here. */
export function pageAddress(path: string): string {
  const said = new URLSearchParams(location.search)
  const kept = new URLSearchParams()
  if (said.has('lang')) kept.set('lang', language.value)
  if (said.has('theme') && themeChoice.value) kept.set('theme', themeChoice.value)
  return kept.size === 0 ? path : `${path}?${kept}`
}

/** What the reader has just chosen takes the place of the link's wish: reloaded, the page stays as it was chosen. */
export function replaceWish(name: 'lang' | 'theme', choice: string | undefined): void {
  const address = new URL(location.href)
  if (!address.searchParams.has(name)) return
  if (choice === undefined) address.searchParams.delete(name)
  else address.searchParams.set(name, choice)
  history.replaceState(history.state, '', address)
}
