import type { Answer, Call } from '@landpass/client'
import { expect, test } from 'vitest'
import type { ListQuery } from '../state/explore-state.ts'
import { type ExactAsker, type Progress, readWholeList, UnstableListError } from './whole-list.ts'

const ON_SALE: ListQuery = { name: 'on_sale', page: 3, sortBy: 'price', sortOrder: 'asc' }

/** A marketplace with `total` rows. The ETag of each answer depends on the number of the request. */
function market(total: number, tagOf: (question: number) => string) {
  const asked: string[] = []
  const ask = (async ({ path }: Call<unknown>): Promise<Answer<unknown>> => {
    const question = asked.push(path)
    const { searchParams } = new URL(path, 'http://land.example')
    const [offset, limit] = [Number(searchParams.get('offset')), Number(searchParams.get('limit'))]
    const length = Math.max(0, Math.min(limit, total - offset))
    const assets = Array.from({ length }, (_, i) => ({ id: `${offset + i}`, tag: tagOf(question) }))
    return { data: { assets, total, limit, offset }, etag: tagOf(question) }
  }) as ExactAsker
  return { asked, ask }
}

test('all pages of what is on sale, sorted as it is shown', async () => {
  const { asked, ask } = market(2100, () => 'a')
  const heard: Progress[] = []

  const rows = (await readWholeList(ON_SALE, ask, (progress) => heard.push(progress))) as { id: string }[]

  expect(rows.map(({ id }) => Number(id))).toEqual(Array.from({ length: 2100 }, (_, i) => i))
  expect(heard.map(({ count }) => count)).toEqual([1000, 2000, 2100])
  expect(asked[1]).toBe('/v1/marketplace?status=open&sort_by=price&sort_order=asc&limit=1000&offset=1000')
})

test('nothing on sale is a list without rows', async () => {
  expect(await readWholeList(ON_SALE, market(0, () => 'a').ask, () => undefined)).toEqual([])
})

test('a list that changes between two pages is read again, and holds one state alone', async () => {
  const { asked, ask } = market(1500, (question) => (question === 1 ? 'old' : 'new'))

  const rows = (await readWholeList(ON_SALE, ask, () => undefined)) as { tag: string }[]

  expect(asked.length).toBe(4)
  expect(rows.length).toBe(1500)
  expect(new Set(rows.map(({ tag }) => tag))).toEqual(new Set(['new']))
})

test('a list that changes during every attempt gives no file', async () => {
  const { ask } = market(1500, (question) => `${question}`)

  await expect(readWholeList(ON_SALE, ask, () => undefined)).rejects.toThrow(UnstableListError)
})
