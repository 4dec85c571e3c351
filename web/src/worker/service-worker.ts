/**
 * Caches the pages, the texts and the last world for use without a connection: after the first visit a page opens with
 * the server gone, or too busy. While the server answers, its answers are shown, except for files whose names change with
 * their content.
 */

/** Both are filled in by build.mjs. */
const BUILD = '__BUILD__'
const FILES = JSON.parse('__FILES__') as readonly string[]

// TypeScript's library types `self` as any kind of worker.
const worker = self as unknown as ServiceWorkerGlobalScope
/** The files of this build; the next build deletes the cache. */
const FILE_CACHE = `landpass-${BUILD}`
/** The last answers of the server; the next build goes on using them. */
const ANSWER_CACHE = 'landpass-answers'
const PAGES = ['/', '/organise']
/** In the HTML of both pages, and in no other page that a network may answer with. */
const PAGE_MARK = 'data-interfaces='
/**
 * Needed by every start of a page. Cached at installation, because the first visit requests some of them before the
 * worker runs.
 */
const ANSWERS = [...['en', 'es', 'fr', 'ko', 'zh'].map((locale) => `/translations/${locale}`), '/v2/feed']

worker.addEventListener('install', (event) => event.waitUntil(install()))
worker.addEventListener('activate', (event) => event.waitUntil(deleteOlderBuilds()))
// A phone's notification, which a page has shown: leads back to that page.
worker.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(worker.clients.matchAll({ type: 'window' }).then(([page]) => page?.focus()))
})
worker.addEventListener('fetch', (event) => {
  const answer = answerFor(event)
  if (answer) event.respondWith(answer)
})

async function install(): Promise<void> {
  const files = await caches.open(FILE_CACHE)
  await files.addAll(FILES)
  // A server may have one of the two pages alone, and no world yet.
  await Promise.allSettled([
    ...PAGES.map(async (path) => store(FILE_CACHE, path, await fetch(path))),
    ...ANSWERS.map(async (path) => store(ANSWER_CACHE, path, await fetch(path))),
  ])
  await worker.skipWaiting()
}

async function deleteOlderBuilds(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith('landpass-') && name !== FILE_CACHE && name !== ANSWER_CACHE)
      await caches.delete(name)
  }
  await worker.clients.claim()
}

/** Undefined for requests that the worker leaves to the browser. */
function answerFor(event: FetchEvent): Promise<Response> | undefined {
  const { origin, pathname, search } = new URL(event.request.url)
  if (event.request.method !== 'GET' || origin !== worker.location.origin) return undefined
  if (pathname.startsWith('/pages/')) return cachedFirst(event, pathname)
  // The query of a page's address does not change the file.
  if (PAGES.includes(pathname) || FILES.includes(pathname)) return serverFirst(event, pathname, FILE_CACHE)
  if (ANSWERS.includes(pathname) && search === '') return serverFirst(event, pathname, ANSWER_CACHE)
  return undefined
}

/** The cached file, else the server's answer: a build that is newer than this worker has other files. */
async function cachedFirst(event: FetchEvent, pathname: string): Promise<Response> {
  return (await findCached(pathname)) ?? serverFirst(event, pathname, FILE_CACHE)
}

async function serverFirst(event: FetchEvent, pathname: string, cacheName: string): Promise<Response> {
  try {
    const answer = await fetch(event.request)
    if (isPassingFailure(answer, pathname)) return (await findCached(pathname)) ?? answer
    event.waitUntil(store(cacheName, pathname, answer)) // not awaited: the page gets its answer at once
    return answer
  } catch (error) {
    const cached = await findCached(pathname)
    if (cached) return cached
    throw error
  }
}

/**
 * Whether the server is too busy or has failed, or another program has answered with a page where the server has data. A
 * page that was opened is shown as it came: it may be the one on which the reader signs in to the network.
 */
function isPassingFailure({ status, headers }: Response, pathname: string): boolean {
  if (status === 429 || status >= 500) return true
  return ANSWERS.includes(pathname) && isHtml(headers)
}

function isHtml(headers: Headers): boolean {
  return headers.get('content-type')?.startsWith('text/html') === true
}

/** Caches a successful answer. A redirected one is not cached: browsers refuse it when a page is opened with it. */
async function store(cacheName: string, pathname: string, answer: Response): Promise<void> {
  if (!answer.ok || answer.redirected || isHtml(answer.headers) !== PAGES.includes(pathname)) return
  const copy = answer.clone() // before the page reads the body
  if (PAGES.includes(pathname) && !(await copy.clone().text()).includes(PAGE_MARK)) return
  const cache = await caches.open(cacheName)
  await cache.put(pathname, copy).catch(() => undefined) // a full disk must not break the page
}

function findCached(pathname: string): Promise<Response | undefined> {
  // Cached bodies are already decompressed, so `Vary: accept-encoding` no longer matters.
  return caches.match(pathname, { ignoreVary: true })
}
