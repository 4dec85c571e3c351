import type { Call } from '@landpass/client'
import { LandpassError } from '@landpass/client'
import { expect, test } from 'vitest'
import { type Asker, LiveAnswer } from './live-answer.ts'

interface Asked {
  readonly path: string
  readonly signal: AbortSignal
  answer(data: string): Promise<void>
  fail(error: unknown): Promise<void>
}

/** A server that answers when the test resolves its requests. */
function slowServer() {
  const asked: Asked[] = []
  const asker = (({ path }: Call<string>, signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      asked.push({
        path,
        signal,
        answer: (data) => settled(() => resolve(data)),
        fail: (error) => settled(() => reject(error)),
      })
    })) as unknown as Asker // this one answers text only, an Asker any data
  return { asked, live: new LiveAnswer<string>(asker) }
}

/** Runs an action, and waits until its promises have settled. */
function settled(act: () => void): Promise<void> {
  act()
  return new Promise((resolve) => setTimeout(resolve, 0))
}

const callTo = (path: string): Call<string> => ({ method: 'GET', path, form: 'envelope' })
const offline = new LandpassError('', { code: 'offline' })
const gone = new LandpassError('', { code: 'estate_not_found', status: 404 })

test('the older answer stays while a newer one is on its way', async () => {
  const { asked, live } = slowServer()

  live.ask(callTo('/a'))
  await asked[0]?.answer('first')
  live.refresh()

  expect(live.state.value).toMatchObject({ data: 'first', error: undefined, isAsking: true })
  await asked[1]?.answer('second')
  expect(live.state.value).toMatchObject({ data: 'second', error: undefined, isAsking: false })
})

test('another call cancels the running request, whose answer changes nothing', async () => {
  const { asked, live } = slowServer()

  live.ask(callTo('/a'))
  live.ask(callTo('/b'))
  await asked[1]?.answer('of b')
  await asked[0]?.answer('of a')

  expect(asked.map(({ path, signal }) => [path, signal.aborted])).toEqual([
    ['/a', true],
    ['/b', false],
  ])
  expect(live.state.value.data).toBe('of b')
})

test('changes during a request send one more request, not one each, and let its answer arrive', async () => {
  const { asked, live } = slowServer()

  live.ask(callTo('/a'))
  for (let changes = 0; changes < 5; changes++) live.refresh()
  await asked[0]?.answer('old')

  expect(live.state.value).toMatchObject({ data: 'old', error: undefined, isAsking: true })
  expect(asked.length).toBe(2)
  await asked[1]?.answer('new')
  expect(live.state.value).toMatchObject({ data: 'new', error: undefined, isAsking: false })
  expect(asked.length).toBe(2)
})

test('a failure keeps the held answer, unless it is a 404', async () => {
  const { asked, live } = slowServer()

  live.ask(callTo('/a'))
  await asked[0]?.answer('held')
  live.refresh()
  await asked[1]?.fail(offline)
  expect(live.state.value).toMatchObject({ data: 'held', error: offline, isAsking: false })

  live.refresh()
  await asked[2]?.fail(gone)
  expect(live.state.value).toMatchObject({ data: undefined, error: gone, isAsking: false })
})

test('the answer to an earlier call is known as such until the next call succeeds', async () => {
  const { asked, live } = slowServer()
  const states: boolean[] = []
  const look = () => states.push(live.state.value.isOfEarlierCall)

  live.ask(callTo('/a'))
  await asked[0]?.answer('of a')
  look()
  live.ask(callTo('/b'))
  look()
  await asked[1]?.fail(offline)
  look()
  expect(live.state.value).toMatchObject({ data: 'of a', error: offline, isAsking: false })
  live.refresh()
  await asked[2]?.answer('of b')
  look()
  live.refresh()
  look()

  expect(states).toEqual([false, true, true, false, false])
})

test('no request is sent after the end', async () => {
  const { asked, live } = slowServer()

  live.ask(callTo('/a'))
  live.end()
  live.refresh()
  await asked[0]?.answer('too late')

  expect(asked.length).toBe(1)
  expect(live.state.value.data).toBeUndefined()
})
