import { type Answer, type Call, type Exact, land } from '@landpass/client'
import type { ListName, ListQuery } from '../state/explore-state.ts'

/** The most rows that the server answers to one request. */
const PAGE_ROWS = 1000
/** More offers than any world has parcels: an answer that claims more is not from our server. */
const MAX_ROWS = 200_000
/** How often the list is read again because it changed between two pages. */
const TRIES = 4

export interface Progress {
  readonly count: number
  readonly total: number
}

/** Sends a call; numbers of the answer keep all their digits. */
export type ExactAsker = <Data>(call: Call<Data>) => Promise<Answer<Exact<Data>>>

/** The list changed between its pages in every attempt, so they would not fit together. */
export class UnstableListError extends Error {
  override readonly name = 'UnstableListError'
}

/**
 * Reads all rows of a list in one state of the land.
 *
 * @param onProgress called after every page
 * @throws {UnstableListError} when the list changed during every attempt
 */
export async function readWholeList(
  query: ListQuery,
  ask: ExactAsker,
  onProgress: (progress: Progress) => void,
): Promise<readonly unknown[]> {
  if (query.name === 'on_sale') return readOnSale(query, ask, onProgress)
  const { data } = await ask(CALLS[query.name](query.address ?? ''))
  onProgress({ count: data.length, total: data.length })
  return data
}

type AddressListName = Exclude<ListName, 'on_sale'>

const CALLS: Readonly<Record<AddressListName, (address: string) => Call<readonly unknown[]>>> = {
  parcels: land.parcelsOf,
  estates: land.estatesOf,
  bids: land.bidsOf,
  contributions: land.contributionsOf,
  mortgages: land.mortgagesOf,
}

async function readOnSale(
  query: ListQuery,
  ask: ExactAsker,
  onProgress: (progress: Progress) => void,
): Promise<readonly unknown[]> {
  for (let left = TRIES; left > 0; left--) {
    const rows = await findOnSale(query, ask, onProgress)
    if (rows) return rows
  }
  throw new UnstableListError()
}

/** Undefined where the list changed between two of its pages. */
async function findOnSale(
  { sortBy, sortOrder }: ListQuery,
  ask: ExactAsker,
  onProgress: (progress: Progress) => void,
): Promise<readonly unknown[] | undefined> {
  const order = { status: 'open', sort_by: sortBy, sort_order: sortOrder } as const
  const rows: unknown[] = []
  let first: string | undefined
  while (rows.length < MAX_ROWS) {
    const { data, etag } = await ask(land.marketplace({ ...order, limit: PAGE_ROWS, offset: rows.length }))
    first ??= etag
    if (etag !== first) return undefined
    rows.push(...data.assets)
    const total = Number(data.total)
    onProgress({ count: rows.length, total })
    if (data.assets.length === 0 || rows.length >= total) break
  }
  return rows
}
