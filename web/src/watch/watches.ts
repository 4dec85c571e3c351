import { followLand, type LandRow, land } from '@landpass/client'
import { computed, effect, signal } from '@preact/signals'
import { filterOf, filterText } from '../address-bar/permalink.ts'
import { client, send } from '../api/client.ts'
import { type LandFilter, serverQuery } from '../state/land-filter.ts'
import { readStored, writeStored } from '../stored.ts'
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

export const watches = signal<readonly Watch[]>(readWatches())

/** Begins the name of the lock that a page holds while it has the stream of a search. */
const LOCK = 'landpass.watched'

let isStarted = false
const rounds = new Map<string, AbortController>()

/** Begins to follow all watches, once. */
export function startWatching(): void {
  if (isStarted) return
  isStarted = true
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
      void follow(name, round.signal).catch(() => undefined) // aborted, or a server that refuses the search
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
  if (watches.peek().length >= MAX_WATCHES || findWatched([filter])) return
  keep([...watches.peek(), { filters, known: undefined, news: [] }])
  startWatching()
}

export function unwatch(filters: string): void {
  keep(watches.peek().filter((watch) => watch.filters !== filters))
}

export function markSeen(filters: string): void {
  change(filters, afterSeen)
}

/** Reads what is new since the last visit, then follows what changes. */
async function follow(filters: string, signal: AbortSignal): Promise<void> {
  await read(filters, signal)
  const { locks } = navigator as { readonly locks?: LockManager } // only in pages that came over HTTPS
  const listen = () => listenTo(filters, signal)
  await (locks ? locks.request(`${LOCK}.${filters}`, { signal }, listen) : listen())
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
  keep(watches.peek().map((watch) => (watch.filters === filters ? { filters, ...act(watch) } : watch)))
}

function keep(wanted: readonly Watch[]): void {
  watches.value = wanted
  const stored = wanted.map(({ filters, known }) => ({ filters, known }))
  writeStored('watched', wanted.length === 0 ? undefined : JSON.stringify(stored))
}

/** What cannot be read counts as no watch: another version of the page may have written it. */
function readWatches(): readonly Watch[] {
  try {
    const stored = JSON.parse(readStored('watched') ?? '[]') as readonly Record<string, unknown>[]
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
