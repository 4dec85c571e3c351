import { expect, test } from 'vitest'
import { namedWay } from './named-way.ts'

test('an event at POAP is changed with its own form, also where events are only made here', () => {
  expect(namedWay('poap', ['here'])).toBe('poap')
  expect(namedWay('poap', ['here', 'poap'])).toBe('poap')
})

test('without a name the only way is taken, and of two the organiser chooses', () => {
  expect([namedWay(null, ['here']), namedWay(null, ['poap'])]).toEqual(['here', 'poap'])
  expect([namedWay(null, ['here', 'poap']), namedWay('else', ['here', 'poap'])]).toEqual([
    undefined,
    undefined,
  ])
})

test('the form that makes events is shown only where they are made', () => {
  expect([namedWay('here', ['here', 'poap']), namedWay('here', ['poap'])]).toEqual(['here', 'poap'])
})
