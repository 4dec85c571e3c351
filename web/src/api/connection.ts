import { signal } from '@preact/signals'

/**
 * Whether the browser has a network connection. False is certain. True only says that there is some network: a server
 * that cannot be reached then has stopped, or something on the way to it has.
 */
export const isOnline = signal(navigator.onLine)

window.addEventListener('online', () => {
  isOnline.value = true
})
window.addEventListener('offline', () => {
  isOnline.value = false
})
