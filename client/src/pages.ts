import type { Call } from './call.ts'
import type { Answer, Client, SendOptions } from './client.ts'

/** The fields of every page of a list. */
export interface Page {
  /** Number of rows of all pages. */
  readonly total: number
  /** The highest number of rows on this page. */
  readonly limit: number
  /** Number of rows before this page. */
  readonly offset: number
}

export interface PageRequest {
  readonly limit: number
  readonly offset: number
}

export interface PageOptions extends SendOptions {
  /** Rows on a page, 1 to 1,000: 1,000 if left out. */
  readonly limit?: number
}

/** The type of the rows of a page: that of its array. */
export type RowOf<SomePage> = {
  [Field in keyof SomePage]: SomePage[Field] extends readonly (infer Row)[] ? Row : never
}[keyof SomePage]

const MAX_LIMIT = 1000

/**
 * The pages of a list, one after another, each requested when the caller reads it.
 *
 * The list may change between two pages: then their ETags differ, and a row may be missing or appear twice. The last
 * page is the one that reaches `total`, is empty, or has no `total`.
 *
 * @param call describes the call of a page
 * @throws {LandpassError} as `send` does
 * @throws {RangeError} when the first page is requested, if `limit` is no whole number from 1 to 1,000
 * @example
 * for await (const { data } of pages(client, (page) => land.marketplace({ sort_by: 'price', ...page })))
 *   console.log(`${data.offset + data.assets.length} of ${data.total}`)
 */
export async function* pages<SomePage extends Page>(
  client: Client,
  call: (page: PageRequest) => Call<SomePage>,
  options: PageOptions = {},
): AsyncGenerator<Answer<SomePage>, void, undefined> {
  const { limit = MAX_LIMIT, ...sendOptions } = options
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new RangeError(`limit must be a whole number from 1 to ${MAX_LIMIT}, and is ${limit}.`)
  for (let offset = 0; ; offset += limit) {
    const answer = await client.answer(call({ limit, offset }), sendOptions)
    yield answer
    const { total } = answer.data
    const isMoreToCome = typeof total === 'number' && offset + limit < total
    if (!isMoreToCome || rowsOf(answer.data).length === 0) return
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

/** A page has one list: parcels, estates or assets. */
function rowsOf<SomePage extends Page>(page: SomePage): readonly RowOf<SomePage>[] {
  const list = Object.values(page).find((value) => Array.isArray(value))
  return (list ?? []) as readonly RowOf<SomePage>[]
}
