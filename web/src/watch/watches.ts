import { followLand, LandpassError, type LandRow, land, waitFor } from '@landpass/client'
import { computed, effect, signal } from '@preact/signals'
import { filterOf, filterText } from '../address-bar/permalink.ts'
import { client, send } from '../api/client.ts'
import { retryPauseMs } from '../api/retry-pause.ts'
import { type LandFilter, serverQuery } from '../state/land-filter.ts'
import { sharedText } from '../stored.ts'
import { afterAnswer, afterChange, afterSeen, type Findings, KNOWN_ROWS, nameOf } from './known-offers.ts'
import { newsCount } from './news-count.ts'
import { notify } from './notifications.ts'

/**
 * Searches that the reader watches. This browser keeps them, with what the reader has seen. Each has a stream of changes while the page is
 * open, also while it is hidden: one of the open pages has the streams, because browsers allow six connections to a server.
 */

/** Each has a connection of its own. */
export const MAX_WATCHES = 3

export interface Watch extends Findings {
  /** The filters, as in the address of the page: what identifies a watch. */
  readonly filters: string
}

const shared = sharedText('watched')

export const watches = signal<readonly Watch[]>(parse(shared.read()))

/** Begins the name of the lock that a page holds while it has the stream of a search. */
const LOCK = 'landpass.watched'

let isStarted = false
const rounds = new Map<string, AbortController>()

/** Begins to follow all watches, once. */
export function startWatching(): void {
  if (isStarted) return
  isStarted = true
  // Another page has changed them
  window.addEventListener('storage', ({ key }) => {
    if (key === null || key === 'landpass.watched') watches.value = current()
  })
  effect(() => {
    newsCount.value = watches.value.reduce((sum, { news }) => sum + news.length, 0)
  })
  const filters = computed(() => watches.value.map((watch) => watch.filters).join('\n'))
  effect(() => {
    const wanted = filters.value === '' ? [] : filters.value.split('\n')
    for (const [name, round] of rounds) {
      if (wanted.includes(name)) continue
      round.abort()
      rounds.delete(name)
    }
    for (const name of wanted) {
      if (rounds.has(name)) continue
      const round = new AbortController()
      rounds.set(name, round)
      void follow(name, round.signal).catch(() => undefined) // aborted
    }
  })
}

/** The first of some filters that is watched. */
export function findWatched(some: readonly LandFilter[]): LandFilter | undefined {
  const watched = watches.value.map(({ filters }) => filters)
  return watched.length === 0 ? undefined : some.find((filter) => watched.includes(filterText(filter)))
}

export function watch(filter: LandFilter): void {
  const filters = filterText(filter)
  const others = current()
  const isNew = others.length < MAX_WATCHES && !others.some((watch) => watch.filters === filters)
  if (isNew) keep([...others, { filters, known: undefined, news: [] }])
  else watches.value = others
  startWatching()
}

export function unwatch(filters: string): void {
  keep(current().filter((watch) => watch.filters !== filters))
}

export function markSeen(filters: string): void {
  change(filters, afterSeen)
}

/** Reads what is new since the last visit, then follows what changes; again after a failure, until the server refuses the search. */
async function follow(filters: string, signal: AbortSignal): Promise<void> {
  const { locks } = navigator as { readonly locks?: LockManager } // only in pages that came over HTTPS
  const listen = () => listenTo(filters, signal)
  for (let failures = 0; ; ) {
    try {
      await read(filters, signal)
      failures = 0
      await (locks ? locks.request(`${LOCK}.${filters}`, { signal }, listen) : listen())
    } catch (error) {
      if (!(error instanceof LandpassError) || isRefusal(error)) return
      failures++
      await waitFor(retryPauseMs(error, failures), signal)
    }
  }
}

function isRefusal({ status }: LandpassError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

async function listenTo(filters: string, signal: AbortSignal): Promise<void> {
  for await (const event of followLand(client, serverQuery(filterOf(filters)), { signal })) {
    if (event.kind !== 'change') {
      await read(filters, signal)
      continue
    }
    const before = newsOf(filters).map(nameOf)
    change(filters, (findings) => afterChange(findings, event))
    notify(newsOf(filters).filter((row) => !before.includes(nameOf(row))))
  }
}

async function read(filters: string, signal: AbortSignal): Promise<void> {
  const order = { sort_by: 'listed_at', sort_order: 'desc', limit: KNOWN_ROWS } as const
  const { land: rows } = await send(land.findLand({ ...serverQuery(filterOf(filters)), ...order }), signal)
  change(filters, (findings) => afterAnswer(findings, rows))
}

function newsOf(filters: string): readonly LandRow[] {
  return watches.peek().find((watch) => watch.filters === filters)?.news ?? []
}

function change(filters: string, act: (findings: Findings) => Findings): void {
  keep(current().map((watch) => (watch.filters === filters ? { filters, ...act(watch) } : watch)))
}

function keep(wanted: readonly Watch[]): void {
  watches.value = wanted
  const stored = wanted.map(({ filters, known }) => ({ filters, known }))
  shared.write(wanted.length === 0 ? undefined : JSON.stringify(stored))
}

/** The watches as another page may have stored them meanwhile, with what this page has found and no page has seen. */
function current(): readonly Watch[] {
  const text = shared.read()
  if (text === undefined) return watches.peek()
  return parse(text).map((watch) =>
    watch.known ? { ...watch, ...afterAnswer(watch, newsOf(watch.filters)) } : watch,
  )
}

/** What cannot be read counts as no watch: another version of the page may have written it. */
function parse(text: string | null | undefined): readonly Watch[] {
  try {
    const stored = JSON.parse(text ?? '[]') as readonly Record<string, unknown>[]
    return stored.slice(0, MAX_WATCHES).flatMap(({ filters, known }) => {
      const text = filterText(filterOf(String(filters)))
      if (text === '') return []
      const names = Array.isArray(known) ? known.map(String).slice(0, KNOWN_ROWS) : undefined
      return [{ filters: text, known: names, news: [] }]
    })
  } catch {
    return []
  }
}
