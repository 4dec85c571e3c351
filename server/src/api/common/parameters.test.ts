import { parseWorld } from '@landpass/client/grid'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { STATUSES } from '../../land/records/statuses.ts'
import { assertInWorld, idParams, parseStatuses, readCoordinates, statusQuery } from './parameters.ts'

const world = parseWorld('-10,-10,10,10;20,0,25,5')!

test('coordinates are read if they lie in the world', () => {
  expect(readCoordinates(world, 'nw', '-10,10')).toEqual({ x: -10, y: 10 })
  expect(readCoordinates(world, 'nw', '25,5')).toEqual({ x: 25, y: 5 })
  expect(assertInWorld(world, { x: 20, y: 0 })).toEqual({ x: 20, y: 0 })
})

test('the error names the parameter and the bounds of the world', () => {
  const bounds = 'inside the world: -10,-10 to 10,10 or 20,0 to 25,5.'
  expect(() => readCoordinates(world, 'nw', '15,0')).toThrow(`nw is "15,0", but must be ${bounds}`)
  expect(() => readCoordinates(world, 'se', 'here')).toThrow(
    'se is "here", but must be x,y: two whole numbers',
  )
  expect(() => assertInWorld(world, { x: 15, y: 0 })).toThrow(`x,y is "15,0", but must be ${bounds}`)
})

test('a status is one or more values of the list; all only where it is the default', () => {
  const ajv = new Ajv({ strict: false })
  const list = ajv.compile(statusQuery(STATUSES, { default: 'open', description: '' }))
  const filter = ajv.compile(statusQuery(STATUSES, { default: 'all', description: '' }))

  for (const text of ['open', 'sold,open', 'open,cancelled,sold'])
    expect([list(text), filter(text)]).toEqual([true, true])
  expect([list('all'), filter('all')]).toEqual([false, true])
  for (const text of ['', ',', 'open,', 'open, sold', 'OPEN', 'all,open', 'open,open,open,open', 'open\n'])
    expect([list(text), filter(text)], text).toEqual([false, false])
})

test('all is no filter, a status named twice counts once', () => {
  expect(parseStatuses('all')).toBeUndefined()
  expect(parseStatuses('sold,open,sold')).toEqual(['sold', 'open'])
})

test('an id is any text that the database accepts', () => {
  const isId = new Ajv({ strict: false }).compile(idParams('id', ''))

  for (const id of ['1', '0xab', 'a\nb', '🌱', 'x'.repeat(100)]) expect(isId({ id }), id).toBe(true)
  for (const id of ['', '\u0000', 'a\u0000', 'x'.repeat(101)]) expect(isId({ id }), id).toBe(false)
})
