import { signal } from '@preact/signals'

/**
 * Whether the browser reports a network connection. Neither value says whether the server can be reached: without a
 * network, a server on the same machine still answers, and with a network any server may be down. Only a request decides
 * that; this signal explains to the reader why a request failed.
 */
export const isOnline = signal(navigator.onLine)

window.addEventListener('online', () => {
  isOnline.value = true
})
window.addEventListener('offline', () => {
  isOnline.value = false
})
