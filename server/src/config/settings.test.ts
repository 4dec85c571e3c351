import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CommandError } from '../errors.ts'
import { describeConfig, readConfig } from './config.ts'
import { MAX_PRESENCE_PROVIDERS } from './setting-grammars.ts'
import { readSettings, type Setting } from './setting-reader.ts'
import { SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts'

const PAGE = readFileSync(
  join(fileURLToPath(new URL('../../../..', import.meta.url)), 'docs/settings.md'),
  'utf8',
)
/** The rows of the page's table: name, what is allowed, default. */
const ROWS = [...PAGE.matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*?) \| .* \|$/gm)].map(
  ([, name, allowed, shownDefault]) => ({
    name: name as SettingName,
    allowed: allowed!,
    shownDefault: shownDefault!,
  }),
)
const SECRETS = Object.entries<Setting>(SETTINGS).flatMap(([name, { secret }]) => (secret ? [name] : []))

describe('the page of settings', () => {
  const numbers = ROWS.flatMap(({ name, allowed }) => {
    const [, min, max] = /^whole number, (\d+) to (\d+)$/.exec(allowed) ?? []
    return min === undefined ? [] : [{ name, min: Number(min), max: Number(max) }]
  })

  test('lists all settings, and the bounds of all whole numbers', () => {
    const withBounds = SETTING_NAMES.filter((name) => 'min' in SETTINGS[name].kind)

    expect(ROWS.map(({ name }) => name)).toEqual(SETTING_NAMES)
    expect(numbers.map(({ name }) => name)).toEqual(withBounds)
  })

  test.each(numbers)('$name: exactly the values from $min to $max are accepted', ({ name, min, max }) => {
    expect(settingOf(name, String(min))).toBe(min)
    expect(settingOf(name, String(max))).toBe(max)
    expect(() => settingOf(name, String(min - 1))).toThrow(`${name} is`)
    expect(() => settingOf(name, String(max + 1))).toThrow(`${name} is`)
    fc.assert(
      fc.property(fc.integer({ min, max }), (value) => {
        expect(settingOf(name, String(value))).toBe(value)
      }),
      { numRuns: 20 },
    )
  })

  test('lists all words that a setting accepts', () => {
    const worded = ROWS.filter(({ allowed }) => /^\w+(?: or \w+|(?:, \w+)+)$/.test(allowed))

    expect(worded.map(({ name }) => name)).toEqual([
      'DATABASE_SYNC',
      'LOG_LEVEL',
      'CHAIN_HEAD',
      'SHOW_SIGNED_OFFERS',
      'EVENT_MAKERS',
      'PRESENCE_POLICY',
    ])
    for (const { name, allowed } of worded) {
      for (const word of allowed.split(/, | or /)) {
        expect(String(settingOf(name, word))).toBe(word)
        expect(() => settingOf(name, `${word}s`), word).toThrow(`allowed: ${allowed}`)
      }
    }
  })

  test('shows the number of digits of a key, and the most presence providers', () => {
    const digits = Number(/^(\d+) hex digits$/.exec(rowOf('ATTENDANCE_KEY').allowed)?.[1])
    const most = Number(/, (\d+) at most$/.exec(rowOf('PRESENCE_PROVIDERS').allowed)?.[1])
    const providers = (count: number) =>
      Array.from({ length: count }, () => 'peers=https://a.example').join(' ')

    expect(settingOf('ATTENDANCE_KEY', 'a'.repeat(digits))).toHaveLength(digits / 2)
    for (const wrong of [digits - 1, digits + 1, digits + 2]) {
      expect(() => settingOf('ATTENDANCE_KEY', 'a'.repeat(wrong))).toThrow('ATTENDANCE_KEY')
    }
    expect(most).toBe(MAX_PRESENCE_PROVIDERS)
    expect(settingOf('PRESENCE_PROVIDERS', providers(most))).toHaveLength(most)
    expect(() => settingOf('PRESENCE_PROVIDERS', providers(most + 1))).toThrow('PRESENCE_PROVIDERS')
  })

  test('shows the defaults, which pass their own check', () => {
    const defaults = readSettings(SETTINGS, {})

    for (const { name, shownDefault } of ROWS) {
      if (shownDefault.startsWith('unset: ')) expect(defaults[name], name).toBe(undefined)
      else expect(settingOf(name, shownDefault), name).toEqual(defaults[name])
    }
  })
})

test('no error and no list of settings shows a secret, even a malformed one', () => {
  const part = fc.stringMatching(/^[\w:/@?#% -]{4,40}$/).map((text) => `S3CR3T${text}`)
  const name = fc.constantFrom(...SECRETS)

  expect(SECRETS).toHaveLength(10)
  fc.assert(
    fc.property(name, part, fc.constantFrom('', ' ', 'a b ', 'mysql://ann:'), (secret, text, start) => {
      const env = { PORT: 'bad', [secret]: start + text }
      expect(messageOf(() => readConfig(env))).not.toContain('S3CR3T')
    }),
    { seed: 6 },
  )
  fc.assert(
    fc.property(name, fc.stringMatching(/^[\w]{1,20}$/), (secret, text) => {
      const value =
        secret === 'DATABASE_URL' ? `postgres://ann:S3CR3T${text}@db/land?p=S3CR3T` : `S3CR3T${text}`
      expect(describeConfig({ [secret]: value })).not.toContain('S3CR3T')
    }),
    { seed: 6 },
  )
})

function rowOf(name: SettingName) {
  return ROWS.find((row) => row.name === name)!
}

function settingOf(name: SettingName, text: string): unknown {
  return readSettings(SETTINGS, { [name]: text })[name]
}

function messageOf(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    if (error instanceof CommandError) return error.message
    throw error
  }
  return expect.fail('nothing was refused')
}
