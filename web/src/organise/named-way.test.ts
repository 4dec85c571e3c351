import { expect, test } from 'vitest'
import { namedWay } from './named-way.ts'

test('without a name the only way is taken, and of two the organiser chooses', () => {
  expect([namedWay(null, ['here']), namedWay(null, ['poap'])]).toEqual(['here', 'poap'])
  expect([namedWay(null, ['here', 'poap']), namedWay('else', ['here', 'poap'])]).toEqual([
    undefined,
    undefined,
  ])
})

test('a form is shown only where this server offers it', () => {
  expect([namedWay('here', ['here', 'poap']), namedWay('here', ['poap'])]).toEqual(['here', 'poap'])
  expect([namedWay('poap', ['here', 'poap']), namedWay('poap', ['here'])]).toEqual(['poap', 'here'])
  expect([namedWay('here', []), namedWay('poap', []), namedWay(null, [])]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})
