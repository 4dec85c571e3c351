import { parseWorld } from '@landpass/client/grid'
import { expect, test } from 'vitest'
import { assertNoOwnOptions, parseOptions } from './event-options.ts'

const world = parseWorld('-150,-150,150,150')!

test('reads all options, in the form of the organiser page', () => {
  expect(parseOptions([['enabled', false]], world)).toEqual({ enabled: false })
  expect(parseOptions([['coordinates', '52,-10; 53,-10;']], world)).toEqual({ coordinates: '52,-10;53,-10' })
  expect(
    parseOptions(
      [
        ['distribution_start_date', '2026-11-20T10:00:00+01:00'],
        ['distribution_end_date', null],
        ['requires_captcha', true],
        ['requires_presence', false],
        ['rehearsal_until', '2026-11-20T10:00:00Z'],
      ],
      world,
    ),
  ).toEqual({
    distribution_start_at_ms: Date.parse('2026-11-20T09:00:00Z'),
    distribution_end_at_ms: null,
    requires_captcha: true,
    requires_presence: false,
    rehearsal_until_ms: Date.parse('2026-11-20T10:00:00Z'),
  })
})

test('an option that comes twice is refused by its name', () => {
  const options = [
    ['enabled', false],
    ['distribution_end_date', '2026-11-20T00:00Z'],
    ['enabled', true],
  ]
  expect(() => parseOptions(options, world)).toThrow(
    expect.objectContaining({
      message: 'The option enabled is given twice.',
      data: { parameter: 'enabled', value: null, allowed: 'given once' },
    }),
  )
})

test('null is shown where it is not allowed', () => {
  expect(() => parseOptions([['coordinates', null]], world)).toThrow(
    'coordinates is null, but must be x,y pairs separated by semicolons.',
  )
})

test.each([
  ['tokens', 5],
  ['hide_holders', false],
  ['description', ''],
])('an event of the issuer has no option %s', (name, value) => {
  assertNoOwnOptions([['enabled', true]])
  expect(() =>
    assertNoOwnOptions([
      ['enabled', true],
      [name, value],
    ]),
  ).toThrow(
    expect.objectContaining({
      code: 'invalid_parameter',
      message: `Only events that were made on this server have the option ${name}.`,
    }),
  )
})

test.each([
  ['2026-11-20', 'which has no time of day'],
  ['2026-11-20T10:00', 'which has no time zone'],
  ['2027-02-30t18:00:00z', 'whose day does not exist in that month'],
  ['2026-11-20 10:00', 'which is no date and time'],
])('a time that is none is shown as it was sent, with what is wrong: %s', (date, wrong) => {
  expect(() => parseOptions([['distribution_end_date', date]], world)).toThrow(
    `distribution_end_date is "${date}", ${wrong}. It must be a date and time with its time zone in RFC 3339, for example 2027-03-05T18:00:00Z`,
  )
})

test.each(['end_date', 'coordinate', 'Enabled', 'enable', 'requiresCaptcha', 'distributionStart'])(
  'an unknown option is named, with those that there are: %s',
  (name) => {
    expect(() => parseOptions([[name, 'red']], world)).toThrow(
      expect.objectContaining({
        message: `There is no option "${name}". The options are coordinates, enabled, distribution_start_date, distribution_end_date, requires_captcha, requires_presence, requires_grant, allows_guests, rehearsal_until, revoke_passes, tokens, hide_holders, description.`,
        data: expect.objectContaining({ parameter: 'options', value: name }),
      }),
    )
  },
)

test.each([
  [[['730519', true]]],
  [[['a1b2c3', true]]],
  [[['abcdef', true]]],
  [[['QWERTZUIOP', true]]],
  [[['en', true]]],
  [[['end_a1', true]]],
  [[['distribution_end_date', '730519']]],
  [[['enabled', '730519']]],
])('what may be an edit code or a claim code is not shown: %j', (options) => {
  expect(() => parseOptions(options, world)).toThrow(/^\w+ is "a string that is not shown", but must be/)
})

test.each([
  ['coordinates=1,1'],
  [{}],
  [[]],
  [[['enabled']]],
  [[['enabled', 'yes']]],
  [[['enabled', true, 1]]],
  [[['colour', 'red']]],
  [[['requires_captcha', 1]]],
  [[['coordinates', 7]]],
  [[['distribution_start_date', 'tomorrow']]],
  [[['distribution_start_date', '2026-11-20T10:00']]],
  [[['distribution_start_date', '2026-13-20']]],
  [[['distribution_start_date', 1_700_000_000_000]]],
  [Array.from({ length: 21 }, () => ['enabled', true])],
  [[['__proto__', { enabled: false }]]],
])('%j is refused by name', (options) => {
  expect(() => parseOptions(options, world)).toThrow(
    expect.objectContaining({
      code: 'invalid_parameter',
      data: expect.objectContaining({ parameter: expect.any(String) }),
    }),
  )
})
