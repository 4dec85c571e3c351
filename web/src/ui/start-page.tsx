import { type ComponentType, render } from 'preact'
import { keepForOfflineTimes } from '../offline/register.ts'
import { startLanguage } from '../texts/texts.ts'
import { startTheme } from '../theme/theme.ts'

/** What every page begins with: theme and language by address, earlier choice or browser; then it is shown. */
export async function startPage(Page: ComponentType): Promise<void> {
  const address = new URLSearchParams(location.search)
  startTheme(address.get('theme'))
  await startLanguage(address.get('lang')).catch(showTextsMissing)
  const place = document.getElementById('page')
  if (place) render(<Page />, place)
  keepForOfflineTimes()
}

/** Without a catalogue there is no other language to say it in. */
function showTextsMissing(error: unknown): never {
  document.body.textContent = navigator.onLine
    ? 'The Landpass server does not answer. Please load the page again in a few minutes.'
    : 'You are offline. Please check your connection and load the page again.'
  throw error
}
