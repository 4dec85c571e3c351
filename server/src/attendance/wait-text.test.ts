import { expect, test } from 'vitest'
import { waitText } from './wait-text.ts'

test('a wait is named in seconds or minutes, rounded up', () => {
  expect([1, 5, 99, 100, 3589].map(waitText)).toEqual([
    '1 second',
    '5 seconds',
    '99 seconds',
    '2 minutes',
    '60 minutes',
  ])
})
