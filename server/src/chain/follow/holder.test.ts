import { expect, test } from 'vitest'
import { hasEnded, newHolder } from './holder.ts'

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
