import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { Downloads } from './downloads.ts'

async function* pieces() {
  yield 'one,'
  yield 'two'
}
const refused = expect.objectContaining({
  code: 'too_many_requests',
  status: 429,
  message: expect.stringContaining('The list of claims (CSV) of this event is being sent already'),
  data: { retry_after_s: 5, file: 'claims' },
})

test('one file of a kind and an event is sent at a time, and those of other events beside it', async () => {
  const downloads = new Downloads()
  const first = downloads.start(1, 'claims', pieces())
  const other = downloads.start(2, 'claims', pieces())

  expect(() => downloads.start(1, 'claims', pieces())).toThrow(refused)
  expect(await Promise.all([text(first), text(other)])).toEqual(['one,two', 'one,two'])
  expect(await text(downloads.start(1, 'claims', pieces())), 'the first one has been sent').toBe('one,two')
})

test('files of two kinds are sent at the same time', async () => {
  const downloads = new Downloads()
  const [claims, everything] = [
    downloads.start(1, 'claims', pieces()),
    downloads.start(1, 'export', pieces()),
  ]

  expect(() => downloads.start(1, 'export', pieces())).toThrow(
    expect.objectContaining({
      message: expect.stringContaining('The export (JSON)'),
      data: { retry_after_s: 5, file: 'export' },
    }),
  )
  expect(await Promise.all([text(claims), text(everything)])).toEqual(['one,two', 'one,two'])
})

test('a file whose connection was closed, before or while it was read, makes room for the next', async () => {
  const downloads = new Downloads()
  const unread = downloads.start(1, 'claims', pieces())
  unread.destroy()
  await once(unread, 'close')

  const begun = downloads.start(1, 'claims', pieces())
  await once(begun, 'data')
  expect(() => downloads.start(1, 'claims', pieces())).toThrow(refused)
  begun.destroy()
  await once(begun, 'close')

  expect(await text(downloads.start(1, 'claims', pieces()))).toBe('one,two')
})
