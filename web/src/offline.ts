/**
 * Registers the service worker, which caches the pages for use without a connection. Where that fails the pages work,
 * but only online.
 */
export function cacheForOfflineUse(): void {
  if (import.meta.env.DEV || !('serviceWorker' in navigator)) return
  void navigator.serviceWorker.register('/service-worker.js').catch(() => undefined)
}
