import { parseDataText } from '@landpass/server/land/events/data-text'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { textOf } from './data-text.ts'

const field = fc.string({ unit: fc.constantFrom('a', '"', ',', ' ', '\n', '\r', '東', '0') })

test('a follower reads what the text was made of', () => {
  fc.assert(
    fc.property(field, field, field, (name, description, ipns) => {
      const data = { version: 0, name, description, ipns }
      expect(parseDataText(textOf(data)!)).toEqual(data)
    }),
  )
})

test('nothing was written where a snapshot has no field', () => {
  expect(textOf({ version: 0 })).toBeUndefined()
  expect(Buffer.from(textOf({ version: 0, name: 'Twins, the' })!).toString()).toBe('0,"Twins, the",,')
})
