import { expect, test } from 'vitest'
import { HolderWatch, hasEnded, newHolder } from './holder.ts'

const own = newHolder()
const [place, pid, start, random] = own.split(' ') as [string, string, string, string]

test('a process that runs has not ended, and each of its names is another one', () => {
  expect(hasEnded(own)).toBe(false)
  expect(newHolder()).not.toBe(own)
})

test('a pid that no process has, or that another process has by now, is of one that has ended', () => {
  expect(hasEnded([place, '4194999', start, random].join(' '))).toBe(true)
  expect(hasEnded([place, pid, '1', random].join(' '))).toBe(true)
})

test.each([
  ['of another container with the same host name and pid', [`${place}0`, pid, '1', random]],
  ['of another boot of the machine', [place.replace(/\/.*/, '/other/pid:[1]'), pid, '1', random]],
  ['of a version that wrote host name and pid', [place.split('/')[0]!, '4194999', random]],
  ['that is no name', ['someone']],
])('a process %s is left alone', (_name, parts) => {
  expect(hasEnded(parts.join(' '))).toBe(false)
})

test('an answer is remembered for 5 seconds, for each process', () => {
  const asked: string[] = []
  let nowMs = 0
  const watch = new HolderWatch(
    () => nowMs,
    (holder) => asked.push(holder) > 2,
  )
  const both = () => ['one', 'other'].map((holder) => watch.hasEnded(holder))

  expect(both()).toEqual([false, false])
  nowMs = 4_999
  expect(both()).toEqual([false, false])
  expect(asked).toEqual(['one', 'other'])
  nowMs = 5_000
  expect(both()).toEqual([true, true])
})
