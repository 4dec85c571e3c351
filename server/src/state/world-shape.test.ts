import { isInWorld, parseWorld } from '@landpass/client/grid'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shapeMark } from './world-shape.ts'

const mark = (text: string) => shapeMark(parseWorld(text)!)

test('the mark does not depend on how the shape is written', () => {
  expect(mark('0,0,9,9')).toMatch(/^[\w-]{5}$/)
  for (const same of [
    ' 0,0,9,9 ',
    '0,0,9,9;0,0,9,9',
    '5,0,9,9; 0,0,4,9',
    '0,5,9,9;0,0,9,4',
    '2,2,3,3;0,0,9,9',
  ])
    expect(mark(same), same).toBe(mark('0,0,9,9'))
  for (const other of ['0,0,9,8', '0,0,8,9', '-1,0,9,9', '0,0,9,9;11,0,11,0', '0,0,4,9;6,0,9,9'])
    expect(mark(other), other).not.toBe(mark('0,0,9,9'))
})

test('two worlds have the same mark exactly if they have the same parcels', () => {
  const edge = fc.integer({ min: 0, max: 3 })
  const area = fc
    .tuple(edge, edge, edge, edge)
    .map(([a, b, c, d]) => [Math.min(a, c), Math.min(b, d), Math.max(a, c), Math.max(b, d)].join(','))
  const world = fc.array(area, { minLength: 1, maxLength: 3 }).map((areas) => parseWorld(areas.join(';'))!)
  const cellsOf = (one: ReturnType<typeof parseWorld>) =>
    Array.from({ length: 16 }, (_, i) => isInWorld(one!, { x: i % 4, y: Math.floor(i / 4) })).join()

  fc.assert(
    fc.property(world, world, (one, other) => {
      expect(shapeMark(one) === shapeMark(other)).toBe(cellsOf(one) === cellsOf(other))
    }),
  )
})
