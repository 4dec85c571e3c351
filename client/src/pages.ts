import type { Call } from './call.ts'
import type { Answer, Client, SendOptions } from './client.ts'

/** The fields of every page of a list. */
export interface Page {
  /** Number of rows of all pages. */
  readonly total: number
  /** The highest number of rows on this page. Not every list has it. */
  readonly limit?: number
  /** Number of rows before this page. Not every list has it. */
  readonly offset?: number
  /** Asks for the next page, whatever has changed before it; null on the last page. Not every list has cursors. */
  readonly cursor?: string | null
}

/** Where a page begins: behind that of the cursor, or after so many rows. */
export interface PageRequest {
  readonly limit: number
  readonly offset?: number
  readonly cursor?: string
}

export interface PageOptions extends SendOptions {
  /** Rows on a page, 1 to 1,000: 1,000 if left out. */
  readonly limit?: number
}

/** The type of the rows of a page: that of its array. */
export type RowOf<SomePage> = {
  [Field in keyof SomePage]-?: SomePage[Field] extends readonly (infer Row)[] ? Row : never
}[keyof SomePage]

const MAX_LIMIT = 1000

/**
 * The pages of a list, one after another, each requested when the caller reads it.
 *
 * The list may change between two pages: then their ETags differ. The lists of land have cursors: a row that stays in them
 * with the value by which they are sorted appears once. In other lists a row may be missing or appear twice. The last page is the
 * one without a cursor; of a list without cursors, the one that reaches `total`. A page that is empty or has no `total` is the last.
 *
 * @param call describes the call of a page
 * @throws {LandpassError} as `send` does
 * @throws {RangeError} when the first page is requested, if `limit` is no whole number from 1 to 1,000
 * @example
 * for await (const { data } of pages(client, (page) => land.marketplace({ sort_by: 'price', ...page })))
 *   console.log(`${data.assets.length} of ${data.total}`)
 */
export async function* pages<SomePage extends Page>(
  client: Client,
  call: (page: PageRequest) => Call<SomePage>,
  options: PageOptions = {},
): AsyncGenerator<Answer<SomePage>, void, undefined> {
  const { limit = MAX_LIMIT, ...sendOptions } = options
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new RangeError(`limit must be a whole number from 1 to ${MAX_LIMIT}, and is ${limit}.`)
  let begin: { readonly offset?: number } | { readonly cursor: string } = {}
  for (let reached = limit; ; reached += limit) {
    const answer: Answer<SomePage> = await client.answer(call({ limit, ...begin }), sendOptions)
    yield answer
    const { total, cursor } = answer.data
    if (cursor === null || typeof total !== 'number' || rowsOf(answer.data).length === 0) return
    if (cursor === undefined && reached >= total) return
    begin = cursor === undefined ? { offset: reached } : { cursor }
  }
}

/**
 * The rows of a list, page by page.
 *
 * @throws {LandpassError} as `send` does
 * @throws {RangeError} as {@link pages} does
 * @example
 * for await (const asset of rows(client, (page) => land.marketplace(page))) console.log(asset.id)
 */
export async function* rows<SomePage extends Page>(
  client: Client,
  call: (page: PageRequest) => Call<SomePage>,
  options: PageOptions = {},
): AsyncGenerator<RowOf<SomePage>, void, undefined> {
  for await (const { data } of pages(client, call, options)) yield* rowsOf(data)
}

/** A page has one list: parcels, estates, assets, land, or the rows of an older service. */
function rowsOf<SomePage extends Page>(page: SomePage): readonly RowOf<SomePage>[] {
  const list = Object.values(page).find((value) => Array.isArray(value))
  return (list ?? []) as readonly RowOf<SomePage>[]
}
