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
  data: { retry_after_s: 5 },
})

test('one file of an event is sent at a time, and those of other events beside it', async () => {
  const downloads = new Downloads()
  const first = downloads.start(1, pieces())
  const other = downloads.start(2, pieces())

  expect(() => downloads.start(1, pieces())).toThrow(refused)
  expect(await Promise.all([text(first), text(other)])).toEqual(['one,two', 'one,two'])
  expect(await text(downloads.start(1, pieces())), 'the first one has been sent').toBe('one,two')
})

test('a file whose connection was closed, before or while it was read, makes room for the next', async () => {
  const downloads = new Downloads()
  const unread = downloads.start(1, pieces())
  unread.destroy()
  await once(unread, 'close')

  const begun = downloads.start(1, pieces())
  await once(begun, 'data')
  expect(() => downloads.start(1, pieces())).toThrow(refused)
  begun.destroy()
  await once(begun, 'close')

  expect(await text(downloads.start(1, pieces()))).toBe('one,two')
})
