import type { LandRow } from '@landpass/client'
import { signal } from '@preact/signals'
import { landTexts } from '../asset/land-texts.ts'
import { showAsset } from '../state/travel.ts'
import { readStored, writeStored } from '../stored.ts'
import { text } from '../texts/texts.ts'

/** Whether the browser can show notifications at all. */
export const canNotify = 'Notification' in window

/** Whether the reader wants notifications, and the browser allows them. */
export const isNotifying = signal(
  readStored('notify') !== null && canNotify && Notification.permission === 'granted',
)
/** Whether the browser has refused. */
export const isRefused = signal(false)

/** Turns notifications on or off. Call it after a click: the browser asks the reader. */
export async function toggleNotifying(): Promise<void> {
  const isWanted = !isNotifying.peek()
  const permission = isWanted ? await Notification.requestPermission() : 'default'
  isRefused.value = permission === 'denied'
  isNotifying.value = permission === 'granted'
  writeStored('notify', isNotifying.peek() ? 'yes' : undefined)
}

/** Shows one notification for rows that a watched search has just found. */
export function notify(rows: readonly LandRow[]): void {
  const [first] = rows
  if (!first || !isNotifying.peek()) return
  const body = rows.slice(0, 3).map(lineOf).join('\n')
  const title = text('watch.news', { count: rows.length })
  try {
    const shown = new Notification(title, { body, icon: '/icon-192.png' })
    shown.onclick = () => {
      window.focus()
      showAsset(first.asset_type, first.asset_id)
      shown.close()
    }
  } catch {
    // Browsers of phones allow them to service workers alone.
    void navigator.serviceWorker?.ready.then((worker) => worker.showNotification(title, { body }))
  }
}

function lineOf(row: LandRow): string {
  const { title, price } = landTexts(row)
  return price === undefined ? title : `${title}: ${price}`
}
