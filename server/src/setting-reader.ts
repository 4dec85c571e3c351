import { CommandError } from './errors.ts'
import type { Kind } from './setting-kinds.ts'

/** `process.env`, or what a test says instead. Empty counts as unset: `DATABASE_URL=` switches a setting off. */
export type Environment = Readonly<Record<string, string | undefined>>

/** One setting: what it may be, what it is where nobody set it, and what it is for. */
export type Setting<T = unknown> = Described<T> & (WithDefault | WithoutDefault)

interface Described<T> {
  readonly kind: Kind<T>
  /** For `docs/settings.md`: sentences. */
  readonly meaning: string
  /** Never shown: `whole`, or only the `password` and the query where it is an address. No error shows any of it. */
  readonly secret?: 'whole' | 'password'
}

interface WithDefault {
  /** As text it is read like any other value. */
  readonly default: string | number | boolean
  readonly unset?: never
}

interface WithoutDefault {
  /** The value is undefined where nobody set it; for people: what that means. */
  readonly unset: string
  readonly default?: never
}

export type SettingTable = Readonly<Record<string, Setting>>

/** The value of every setting of a table, its type that of the setting's kind. */
export type SettingValues<T extends SettingTable> = { readonly [Name in keyof T]: ValueOf<T[Name]> }

type ValueOf<S> = S extends { readonly kind: Kind<infer T> }
  ? S extends WithoutDefault
    ? T | undefined
    : T
  : never

/**
 * Reads all settings of a table, and reports every bad one at once: an operator corrects a file once.
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
 * The settings in force, secrets masked, one `NAME=value` a line.
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

/** What the documents say of a setting that nobody set. */
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
 * An address without its password and without its query, which may hold one too.
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
