import { language, languageChoice } from '../texts/texts.ts'
import { themeChoice } from '../theme.ts'

/**
 * A link may name language and theme (`?lang=fr&theme=dark`). They apply to the pages that are opened from there too,
 * until the reader chooses others.
 */

/** The address of another page, with the language and theme of the link that led here. */
export function pageAddress(path: string): string {
  const said = new URLSearchParams(location.search)
  const kept = new URLSearchParams()
  if (said.has('lang')) kept.set('lang', languageChoice.value ?? language.value)
  if (said.has('theme') && themeChoice.value) kept.set('theme', themeChoice.value)
  return kept.size === 0 ? path : `${path}?${kept}`
}

/** Replaces the link's preference by the reader's choice, so that a reload keeps it. */
export function replacePreference(name: 'lang' | 'theme', choice: string | undefined): void {
  const address = new URL(location.href)
  if (!address.searchParams.has(name)) return
  if (choice === undefined) address.searchParams.delete(name)
  else address.searchParams.set(name, choice)
  history.replaceState(history.state, '', address)
}
