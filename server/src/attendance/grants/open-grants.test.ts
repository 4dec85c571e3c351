import { expect, test } from 'vitest'
import { OpenGrants } from './open-grants.ts'

const EVENT = 7
const stored = async () => 'stored' as const

test('a slow count of all grants lets no event exceed its own limit', async () => {
  let [open, answer] = [0, (_count: number) => {}]
  const countAll = () =>
    new Promise<number>((resolve) => {
      answer = resolve
    })
  const grants = new OpenGrants({ maxOpen: 1, maxOpenOfAll: 10, countOf: async () => open, countAll })
  const giveOne = () =>
    grants.store(EVENT, stored).then(
      () => ++open,
      ({ data }) => data.limit,
    )

  const first = giveOne()
  // As if a second had passed: the count of the event is another one
  await Promise.resolve()
  grants.forget(EVENT)
  const second = giveOne()
  answer(0)

  expect((await Promise.all([first, second])).sort()).toEqual([1, 'event'])
})

test('after a withdrawal there is room at once, in the event and on the server', async () => {
  let open = 2
  const count = async () => open
  const grants = new OpenGrants({ maxOpen: 10, maxOpenOfAll: 2, countOf: count, countAll: count })

  await expect(grants.store(EVENT, stored)).rejects.toMatchObject({ data: { limit: 'server' } })
  open = 0
  grants.forget(EVENT)
  expect(await grants.store(EVENT, stored)).toBe('stored')
})
