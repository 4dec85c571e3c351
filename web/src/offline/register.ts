/** Keeps the pages for times without a connection. Nothing is lost where the browser cannot. */
export function keepForOfflineTimes(): void {
  if (import.meta.env.DEV || !('serviceWorker' in navigator)) return
  void navigator.serviceWorker.register('/service-worker.js').catch(() => undefined)
}
