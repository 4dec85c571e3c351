import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { keepTickObject } from './tick-object.ts'

setFlagsFromString('--expose-gc')
setFlagsFromString('--allow-natives-syntax')
const gc = runInNewContext('gc') as () => void
const haveSameClass = runInNewContext('(one, other) => %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean

test('objects of process.nextTick have the hidden class of the one that is kept, also after garbage was collected', async () => {
  const kept = new WeakRef(await keepTickObject())
  await new Promise(setImmediate)
  gc()
  const later = await new Promise<object>((resolve) => {
    process.nextTick(() => resolve(executionAsyncResource()))
  })

  expect(kept.deref()).toBeDefined()
  expect(later).not.toBe(kept.deref())
  expect(haveSameClass(kept.deref()!, later)).toBe(true)
})
