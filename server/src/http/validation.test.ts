import fc from 'fast-check'
import Type, { type TSchema } from 'typebox'
import { describe, expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { oneOf } from '../schema-parts.ts'
import { invalidParameter, invalidSecret, parameterReader } from './validation.ts'

const schema = Type.Object({
  limit: Type.Integer({ minimum: 0, maximum: 1000, default: 20 }),
  offset: Type.Integer({ minimum: 0, default: 0 }),
  any: Type.Optional(Type.Integer()),
  time: Type.Optional(Type.Number()),
  sure: Type.Boolean({ default: true }),
  order: Type.Optional(oneOf(['asc', 'desc'])),
  network: Type.Optional(oneOf(['ETHEREUM'])),
  text: Type.Optional(Type.String()),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 8 })),
  needed: Type.String(),
})

function read(given: Record<string, unknown>, httpPart = 'params'): Record<string, unknown> {
  const reader = parameterReader({ schema, method: 'GET', url: '/', httpPart } as never) as (
    given: unknown,
  ) => {
    value: Record<string, unknown>
  }
  return reader({ needed: 'yes', ...given }).value
}

function refusalOf(given: Record<string, unknown>): AppError {
  try {
    const value = read(given)
    return expect.fail(`${JSON.stringify(given)} was read as ${JSON.stringify(value)}`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error
  }
}

describe('reading parameters', () => {
  test('a missing parameter has its default, an unknown parameter stays unchanged', () => {
    expect(read({})).toEqual({ limit: 20, offset: 0, sure: true, needed: 'yes' })
    expect(read({ colour: 'red', more: ['1', '2'] })).toMatchObject({ colour: 'red', limit: 20 })
  })

  test('an empty value in a query counts as absent, for every type', () => {
    const given = { limit: '', offset: ['', ''], sure: '', any: '', order: ['', 'asc', ''], text: '' }
    expect(read(given, 'querystring')).toEqual({
      limit: 20,
      offset: 0,
      sure: true,
      order: 'asc',
      needed: 'yes',
    })
    expect(() => read({ needed: '' }, 'querystring')).toThrow('needed is missing, but must be')
    expect(() => read({ order: ['asc', '', 'desc'] }, 'querystring')).toThrow('order is ["asc","desc"], but')
    expect(read({ text: ' ' }, 'querystring').text).toBe(' ')
  })

  test('an unknown parameter is refused where a schema allows no other, also an empty one', () => {
    const schema = { type: 'object', properties: { limit: { type: 'integer' } }, additionalProperties: false }
    const closed = parameterReader({ schema, method: 'GET', url: '/', httpPart: 'querystring' })

    for (const limt of ['', 'x', ['', ''], ['', 'x']])
      expect(() => closed({ limt })).toThrow('There is no parameter "limt".')
    for (const limit of ['', ['', '']]) expect(closed({ limit })).toEqual({ value: {} })
    const bare = { ...schema, properties: {} }
    const none = parameterReader({ schema: bare, method: 'GET', url: '/', httpPart: 'querystring' })
    expect(() => none({ limit: '5' })).toThrow('There is no parameter "limit". There are no parameters.')
  })

  test('a field of a body that is null counts as absent', () => {
    expect(read({ limit: null, text: null, order: null }, 'body')).toEqual(read({}, 'body'))
    expect(() => read({ needed: null }, 'body')).toThrow('needed is missing, but must be')
  })

  test('every whole number in range is read, in its canonical form', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), fc.maxSafeInteger(), (limit, any) => {
        expect(read({ limit: String(limit), any: String(any) })).toMatchObject({ limit, any })
      }),
    )
  })

  test('no other text is a whole number, even if JavaScript converts it to one', () => {
    const almost = fc.constantFrom(
      '1e2',
      '0x10',
      ' 5',
      '5 ',
      '007',
      '-0',
      '+1',
      '1.0',
      '1_0',
      '',
      '5\n',
      '١',
      'NaN',
      '1n',
    )
    fc.assert(
      fc.property(fc.oneof(almost, fc.string(), fc.double().map(String)), (any) => {
        if (/^(?:0|-?[1-9]\d{0,15})$/.test(any)) return
        const { code, data } = refusalOf({ any })
        expect([code, data]).toEqual([
          'invalid_parameter',
          { parameter: 'any', value: any, allowed: 'a whole number' },
        ])
      }),
    )
  })

  test('every finite number is read, written as in JSON', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (time) => {
        expect(read({ time: JSON.stringify(time) }).time).toBe(Object.is(time, -0) ? 0 : time)
      }),
      { examples: [[1.5], [-1], [1e300]] },
    )
    for (const time of ['1e999', 'NaN', 'Infinity', '0x10', ' 5', '1.', '.5', '+1', 'yesterday'])
      expect(refusalOf({ time }).message).toBe(`time is ${JSON.stringify(time)}, but must be a number.`)
  })

  test('no text but true and false is a boolean', () => {
    expect([read({ sure: 'true' }).sure, read({ sure: 'false' }).sure]).toEqual([true, false])
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom('1', '0', '', 'True', 'yes', 'null'), fc.string()), (sure) => {
        if (sure === 'true' || sure === 'false') return
        expect(refusalOf({ sure }).data).toEqual({
          parameter: 'sure',
          value: sure.slice(0, 100),
          allowed: 'true or false',
        })
      }),
    )
  })

  test('an error names the parameter, the value and what is allowed', () => {
    expect(refusalOf({ limit: '1001' }).message).toBe(
      'limit is 1001, but must be a whole number from 0 to 1000.',
    )
    expect(refusalOf({ offset: '-1' }).message).toBe('offset is -1, but must be a whole number, 0 or more.')
    expect(refusalOf({ order: 'up' }).message).toBe('order is "up", but must be one of asc, desc.')
    expect(refusalOf({ network: 'MATIC' }).message).toBe('network is "MATIC", but must be ETHEREUM.')
    expect(refusalOf({ limit: ['1', '2'] }).message).toBe(
      'limit is ["1","2"], but must be a whole number from 0 to 1000.',
    )
    expect(refusalOf({ text: ['a', 'b'] }).message).toBe('text is ["a","b"], but must be text, given once.')
    expect(refusalOf({ needed: undefined }).message).toBe('needed is missing, but must be text, given once.')
    expect(refusalOf({ name: 'x'.repeat(9) }).message).toBe(
      'name is "xxxxxxxxx", but must be text of 1 to 8 characters.',
    )
    expect(invalidParameter('limit', Number.POSITIVE_INFINITY, 'at most 9').data.value).toBe('Infinity')
    expect(invalidSecret('image', {}, 'text').message).toContain('"an object that is not shown"')
    expect(invalidSecret('image', [], 'text').message).toContain('"a list that is not shown"')
    expect(invalidSecret('image', null, 'text').message).toBe('image is null, but must be text.')
    expect(invalidParameter('limit', 'ten', 'a whole number from 0 to 1000').message).toBe(
      'limit is "ten", but must be a whole number from 0 to 1000.',
    )
  })

  test('the value in an error is the text that was sent, for every type of parameter', () => {
    expect(refusalOf({ limit: '1001' }).data.value).toBe('1001')
    expect(refusalOf({ offset: '-1' }).data.value).toBe('-1')
    expect(refusalOf({ order: 'true' }).data.value).toBe('true')
    expect(refusalOf({ limit: ['1', '2'] }).data.value).toBe('["1","2"]')
    expect(refusalOf({ needed: undefined }).data.value).toBeNull()
    expect(invalidParameter('enabled', { a: false }, 'true or false').data.value).toBe('{"a":false}')
  })

  test('a long value is not repeated in full', () => {
    const { message, data } = refusalOf({ limit: 'x'.repeat(10_000) })

    expect(message.length).toBeLessThan(200)
    expect(data.value).toBe(`${'x'.repeat(100)}…`)
    expect(refusalOf({ offset: '9007199254740993' }).message).toContain('offset is "9007199254740993", but')
  })

  test('the words of a schema for its allowed values replace the default words', () => {
    const own = Type.Object({ id: Type.String({ pattern: '^a$', 'x-allowed': 'the letter a' }) }) as TSchema
    const reader = parameterReader({ schema: own } as never) as (given: unknown) => unknown

    expect(() => reader({ id: 'b' })).toThrow('id is "b", but must be the letter a.')
  })

  test('of a secret an error says that it is empty', () => {
    const code = Type.String({ minLength: 1, maxLength: 8, 'x-allowed': 'a code', 'x-withheld': true })
    const own = Type.Object({ code }) as TSchema
    const reader = parameterReader({ schema: own } as never) as (given: unknown) => unknown

    expect(() => reader({ code: '' })).toThrow('code is "an empty string", but must be a code.')
    expect(() => reader({ code: 'x'.repeat(9) })).toThrow(
      'code is "a string that is not shown", but must be a code.',
    )
  })

  test('the error for an entry of a list names the entry', () => {
    const entry = Type.String({ pattern: '^a$', 'x-allowed': 'the letter a' })
    const letters = Type.Array(entry, { maxItems: 2, 'x-allowed': 'a list of at most 2 letters' })
    const secrets = Type.Array(entry, { 'x-withheld': true })
    const own = Type.Object({ letters: Type.Optional(letters), secrets: Type.Optional(secrets) }) as TSchema
    const reader = parameterReader({ schema: own } as never) as (given: unknown) => unknown

    expect(() => reader({ letters: ['a', 'b'] })).toThrow('letters[1] is "b", but must be the letter a.')
    expect(() => reader({ letters: ['a', 'a', 'a'] })).toThrow(
      'letters is ["a","a","a"], but must be a list of at most 2 letters.',
    )
    expect(() => reader({ secrets: ['a', 5] })).toThrow(
      'secrets[1] is "a number that is not shown", but must be the letter a.',
    )
  })
})
