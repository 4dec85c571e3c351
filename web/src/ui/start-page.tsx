import { type ComponentType, render } from 'preact'
import { cacheForOfflineUse } from '../offline/register.ts'
import { startLanguage } from '../texts/texts.ts'
import { startTheme } from '../theme/theme.ts'

/** Starts a page: theme and language from the address, an earlier choice or the browser; then it is rendered. */
export async function startPage(Page: ComponentType): Promise<void> {
  const address = new URLSearchParams(location.search)
  startTheme(address.get('theme'))
  await startLanguage(address.get('lang')).catch(showTextsMissing)
  const place = document.getElementById('page')
  if (place) render(<Page />, place)
  cacheForOfflineUse()
}

/** In English: without a catalogue there is no other text. */
function showTextsMissing(error: unknown): never {
  document.body.textContent = navigator.onLine
    ? 'The Landpass server does not answer. Please load the page again in a few minutes.'
    : 'You are offline. Please check your connection and load the page again.'
  throw error
}
