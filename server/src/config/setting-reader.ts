import { CommandError } from '../errors.ts'
import type { Kind } from './setting-kinds.ts'

/** `process.env`, or values of a test. An empty value counts as unset: `DATABASE_URL=` switches a setting off. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One setting: its kind, its value where it is unset, and its meaning. */
export type Setting<T = unknown> = Described<T> & (WithDefault | WithoutDefault)

interface Described<T> {
  readonly kind: Kind<T>
  /** Sentences for `docs/settings.md`. */
  readonly meaning: string
  /**
   * What `describeSettings` masks: the `whole` value, or the `password` and the query of an address. Errors mask all of
   * it.
   */
  readonly secret?: 'whole' | 'password'
}

interface WithDefault {
  /** Parsed like a value of the environment. */
  readonly default: string | number | boolean
  readonly unset?: never
}

interface WithoutDefault {
  /** The value is undefined where the setting is unset. The text says, for people, what that means. */
  readonly unset: string
  readonly default?: never
}

export type SettingTable = Readonly<Record<string, Setting>>

/** The values of all settings of a table, each with the type of its kind. */
export type SettingValues<T extends SettingTable> = { readonly [Name in keyof T]: ValueOf<T[Name]> }

type ValueOf<S> = S extends { readonly kind: Kind<infer T> }
  ? S extends WithoutDefault
    ? T | undefined
    : T
  : never

/**
 * Reads all settings of a table. All bad ones are reported together, so that an operator can correct them at once.
 *
 * @throws {CommandError} a line for each bad setting: its name, its value unless that is secret, and what is allowed
 * @example
 * const table = { PORT: { kind: integer({ min: 0, max: 65_535 }), default: 3000, meaning: 'Port to listen on.' } }
 * readSettings(table, { PORT: '8080' }).PORT // 8080
 */
export function readSettings<T extends SettingTable>(table: T, env: Environment): SettingValues<T> {
  const problems: string[] = []
  const values = Object.entries(table).map(([name, setting]) => {
    const text = given(env, name) ?? defaultOf(setting)
    if (text === undefined) return [name, undefined]
    const value = setting.kind.parse(text)
    if (value === undefined) {
      const shown = setting.secret ? '***' : JSON.stringify(text)
      problems.push(`  ${name} is ${shown}; allowed: ${setting.kind.allowed}`)
    }
    return [name, value]
  })
  if (problems.length > 0) throw new CommandError(`Wrong settings:\n${problems.join('\n')}`)
  return Object.fromEntries(values)
}

/**
 * The current settings, one `NAME=value` per line, with secrets masked.
 *
 * @example
 * describeSettings(SETTINGS, { DATABASE_URL: 'postgres://ann:secret@db/land' }) // …'DATABASE_URL=postgres://ann:***@db/land'…
 */
export function describeSettings(table: SettingTable, env: Environment): string {
  const lines = Object.entries(table).map(([name, setting]) => {
    const text = given(env, name)
    return `${name}=${text === undefined ? (defaultOf(setting) ?? '') : shown(setting, text)}`
  })
  return lines.join('\n')
}

/** The default of a setting, as the documents show it. */
export function defaultText(setting: Setting): string {
  return setting.unset === undefined ? String(setting.default) : `unset: ${setting.unset}`
}

function given(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name]
}

function defaultOf(setting: Setting): string | undefined {
  return setting.unset === undefined ? String(setting.default) : undefined
}

function shown({ secret }: Setting, text: string): string {
  if (secret === undefined) return text
  return secret === 'password' ? maskPassword(text) : '***'
}

/**
 * Masks the password and the query of an address, because a query can contain a password too.
 *
 * @example
 * maskPassword('postgres://ann:secret@db/land') // 'postgres://ann:***@db/land'
 */
export function maskPassword(address: string): string {
  try {
    const url = new URL(address)
    const user = url.username ? `${url.username}${url.password ? ':***' : ''}@` : ''
    return `${url.protocol}//${user}${url.host}${url.pathname}${url.search ? '?***' : ''}`
  } catch {
    return '***'
  }
}
