/**
 * Keeps the pages, the texts and the last world for times without a connection: after the first visit a page opens with
 * the server gone. It never stands between a reader and the server: as long as the server answers, its answer is what is
 * shown, except for files whose names change with their content.
 */

/** Both are filled in by build.mjs. */
const BUILD = '__BUILD__'
const FILES = JSON.parse('__FILES__') as readonly string[]

// The compiler's library takes `self` for that of any worker.
const worker = self as unknown as ServiceWorkerGlobalScope
/** The files of this build, gone with it. */
const FILE_CACHE = `landpass-${BUILD}`
/** What the server answered last; the next build goes on with it. */
const ANSWER_CACHE = 'landpass-answers'
const PAGES = ['/', '/organise']
/** Wanted at every start of a page. The first visit has asked for some of them before there was a worker. */
const ANSWERS = [...['en', 'es', 'fr', 'ko', 'zh'].map((locale) => `/translations/${locale}`), '/v2/feed']

worker.addEventListener('install', (event) => event.waitUntil(install()))
worker.addEventListener('activate', (event) => event.waitUntil(forgetOlderBuilds()))
worker.addEventListener('fetch', (event) => {
  const answer = answerFor(event)
  if (answer) event.respondWith(answer)
})

async function install(): Promise<void> {
  const files = await caches.open(FILE_CACHE)
  await files.addAll(FILES)
  // A server may have one of the two pages alone, and no world yet.
  await Promise.allSettled([
    ...PAGES.map(async (path) => keep(FILE_CACHE, path, await fetch(path))),
    ...ANSWERS.map(async (path) => keep(ANSWER_CACHE, path, await fetch(path))),
  ])
  await worker.skipWaiting()
}

async function forgetOlderBuilds(): Promise<void> {
  for (const name of await caches.keys()) {
    if (name.startsWith('landpass-') && name !== FILE_CACHE && name !== ANSWER_CACHE)
      await caches.delete(name)
  }
  await worker.clients.claim()
}

/** Undefined for what is none of our business: the browser asks as if there were no worker. */
function answerFor(event: FetchEvent): Promise<Response> | undefined {
  const { origin, pathname, search } = new URL(event.request.url)
  if (event.request.method !== 'GET' || origin !== worker.location.origin) return undefined
  if (pathname.startsWith('/pages/')) return keptFirst(event, pathname)
  // Whatever a link to a page says, it is the same page.
  if (PAGES.includes(pathname) || FILES.includes(pathname)) return serverFirst(event, pathname, FILE_CACHE)
  if (ANSWERS.includes(pathname) && search === '') return serverFirst(event, pathname, ANSWER_CACHE)
  return undefined
}

/** What is kept, or else the server's answer: a build that came after this worker has other files. */
async function keptFirst(event: FetchEvent, pathname: string): Promise<Response> {
  return (await findKept(pathname)) ?? serverFirst(event, pathname, FILE_CACHE)
}

async function serverFirst(event: FetchEvent, pathname: string, cacheName: string): Promise<Response> {
  try {
    const answer = await fetch(event.request)
    event.waitUntil(keep(cacheName, pathname, answer)) // nobody waits for that
    return answer
  } catch (error) {
    const kept = await findKept(pathname)
    if (kept) return kept
    throw error
  }
}

/** Keeps a good answer. One that came by another address would be refused when a page is opened with it. */
async function keep(cacheName: string, pathname: string, answer: Response): Promise<void> {
  if (!answer.ok || answer.redirected) return
  const copy = answer.clone() // before its reader begins with it
  const cache = await caches.open(cacheName)
  await cache.put(pathname, copy).catch(() => undefined) // a full disk is no reason to show nothing
}

function findKept(pathname: string): Promise<Response | undefined> {
  // The browser undoes compression before it keeps an answer: its form no longer matters.
  return caches.match(pathname, { ignoreVary: true })
}
