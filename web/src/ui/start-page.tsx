import { type ComponentType, render } from 'preact'
import { isEmbedded } from '../embedded.ts'
import { cacheForOfflineUse } from '../offline.ts'
import { type Catalogue, startLanguage } from '../texts/texts.ts'
import { startTheme } from '../theme.ts'

/**
 * Starts a page: theme and language from the address, an earlier choice or the browser; then it is rendered.
 *
 * @param english the English texts of the page, which it shows until those of another language arrive
 */
export async function startPage(Page: ComponentType, english: Catalogue): Promise<void> {
  const address = new URLSearchParams(location.search)
  startTheme(address.get('theme'))
  await startLanguage(address.get('lang'), english)
  const place = document.getElementById('page')
  if (place) render(<Page />, place)
  if (!isEmbedded) cacheForOfflineUse()
}
