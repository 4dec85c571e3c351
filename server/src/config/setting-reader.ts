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
   * `whole`: `describeSettings` masks the value. `password`: it masks what {@link maskAddresses} finds, as in every
   * other value. Errors mask the value of both kinds.
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
      const shown = setting.secret ? '***' : JSON.stringify(maskAddresses(text))
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
  return secret === 'whole' ? '***' : maskAddresses(text)
}

/**
 * Masks the secrets in all web and database addresses of a text: the password, or the whole user info where it has no
 * password and the address is not of a database; and the query, which can contain a key. The rest stays as it is.
 *
 * @example
 * maskAddresses('postgres://ann:secret@db/land?sslkey=a') // 'postgres://ann:***@db/land?***'
 * maskAddresses('peers=https://key@stats.example/peers') // 'peers=https://***@stats.example/peers'
 */
export function maskAddresses(text: string): string {
  return text.replace(ADDRESS, (_, scheme: string, rest: string) => {
    const at = endOfUserInfo(rest)
    const host = rest.slice(at).replace(/([?#]).*$/s, '$1***')
    return `${scheme}://${maskUserInfo(scheme, rest.slice(0, at))}${host}`
  })
}

/** A scheme, and all that follows up to a blank. */
const ADDRESS = /([a-z][a-z\d+.-]*):\/\/(\S*)/gi
/** One or several hosts with their ports, as far as the path. */
const HOSTS = /^[^\s/?#@:[\]]*(?:\[[^\]]*\])?(?::\d*)?(?:,[^\s/?#@:[\]]*(?:\[[^\]]*\])?(?::\d*)?)*$/

/** How long the user info of an address is, with its `@`. A password with a raw slash belongs to it. */
function endOfUserInfo(rest: string): number {
  const authority = rest.split(/[/?#]/, 1)[0]!
  const isWhole = authority.includes('@') || HOSTS.test(authority)
  return (isWhole ? authority : rest).lastIndexOf('@') + 1
}

function maskUserInfo(scheme: string, userInfo: string): string {
  if (userInfo === '') return ''
  const colon = userInfo.indexOf(':')
  if (colon !== -1) return `${userInfo.slice(0, colon)}:***@`
  return scheme.startsWith('postgres') ? userInfo : '***@'
}
