import { CommandError } from './errors.ts'
import { parseWorld, type World } from './world/world.ts'

/** Every setting of the server, read once from the environment, checked, and never changed again. */
export interface Config {
  readonly port: number
  readonly host: string
  readonly dataDir: string
  /** Undefined: the embedded database in `dataDir`. */
  readonly databaseUrl: string | undefined
  readonly databasePoolSize: number
  readonly databaseSync: boolean
  readonly databaseTimeoutMs: number
  readonly publicUrl: string | undefined
  /** What the pages of a marketplace begin with; undefined: our own metadata. */
  readonly externalBaseUrl: string | undefined
  readonly logLevel: LogLevel
  readonly requestTimeoutMs: number
  readonly world: World
}

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/** One setting as the documents show it; `docs/settings.md` is made from this table. */
export interface Setting {
  readonly name: string
  readonly type: string
  readonly defaultText: string
  readonly meaning: string
  /** Answered as `***` by `landpass config`, or with its password alone masked where it is an address. */
  readonly secret?: boolean
}

export const SETTINGS = [
  {
    name: 'PORT',
    type: 'whole number, 0 to 65535',
    defaultText: '3000',
    meaning: 'Port to listen on; 0 takes a free one.',
  },
  {
    name: 'HOST',
    type: 'host name or address',
    defaultText: '127.0.0.1',
    meaning: 'Address to listen on; 0.0.0.0 for every network of the machine.',
  },
  {
    name: 'DATA_DIR',
    type: 'folder',
    defaultText: './data',
    meaning:
      'Where the embedded database lives, and with either database a copy of the land that makes the next start faster.',
  },
  {
    name: 'DATABASE_URL',
    type: 'postgres:// address',
    defaultText: 'unset: the embedded database',
    meaning: 'PostgreSQL 14 or newer, for example postgres://user:password@host:5432/landpass.',
    secret: true,
  },
  {
    name: 'DATABASE_POOL_SIZE',
    type: 'whole number, 2 to 100',
    defaultText: '10',
    meaning: 'Connections to PostgreSQL at most, per process.',
  },
  {
    name: 'DATABASE_SYNC',
    type: 'true or false',
    defaultText: 'true',
    meaning:
      'Whether the embedded database forces every commit onto the disk. false is faster and may lose the last commits when the machine (not the process) fails.',
  },
  {
    name: 'DATABASE_TIMEOUT_MS',
    type: 'whole number, 100 to 600000',
    defaultText: '10000',
    meaning: 'How long one database query of a request may take, in milliseconds.',
  },
  {
    name: 'PUBLIC_URL',
    type: 'http:// or https:// address',
    defaultText: 'unset: the host that a request names',
    meaning: 'Where people reach the server, as written into openapi.json, tiles.json and token metadata.',
  },
  {
    name: 'EXTERNAL_BASE_URL',
    type: 'http:// or https:// address',
    defaultText: 'unset: PUBLIC_URL and /v2',
    meaning:
      'Where a marketplace shows tokens: external_url in token metadata is this and /contracts/<address>/tokens/<id>.',
  },
  {
    name: 'LOG_LEVEL',
    type: LOG_LEVELS.join(', '),
    defaultText: 'info',
    meaning:
      'The least important kind of log line to write. debug also writes a line for every request, which costs about a third of the speed.',
  },
  {
    name: 'REQUEST_TIMEOUT_MS',
    type: 'whole number, 1000 to 600000',
    defaultText: '15000',
    meaning: 'How long a client may take to send its request, in milliseconds.',
  },
  {
    name: 'WORLD',
    type: 'minX,minY,maxX,maxY (no min above its max), several separated by ;',
    defaultText: '-150,-150,150,150',
    meaning: "The world's shape: one or more rectangles, corners included. Coordinates outside are refused.",
  },
] as const satisfies readonly Setting[]

export type SettingName = (typeof SETTINGS)[number]['name']
export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads all settings and reports every bad one at once.
 *
 * @throws {CommandError} naming each bad setting, its value and what is allowed.
 * @example
 * readConfig({ PORT: '8080' }).port // 8080
 */
export function readConfig(env: Environment): Config {
  const read = new SettingReader(env)
  const config: Config = {
    port: read.integer('PORT', 0, 65_535),
    host: read.text('HOST', /^[^\s/]+$/)!,
    dataDir: read.text('DATA_DIR', /./)!,
    databaseUrl: read.text('DATABASE_URL', /^postgres(ql)?:\/\/\S+$/),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', 2, 100),
    databaseSync: read.boolean('DATABASE_SYNC'),
    databaseTimeoutMs: read.integer('DATABASE_TIMEOUT_MS', 100, 600_000),
    publicUrl: read.webAddress('PUBLIC_URL'),
    externalBaseUrl: read.webAddress('EXTERNAL_BASE_URL'),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS),
    requestTimeoutMs: read.integer('REQUEST_TIMEOUT_MS', 1_000, 600_000),
    world: read.parsed('WORLD', parseWorld),
  }
  read.finish()
  return Object.freeze(config)
}

/** Collects what is wrong instead of stopping at the first: an operator corrects a file once. */
class SettingReader {
  private readonly env: Environment
  private readonly problems: string[] = []
  constructor(env: Environment) {
    this.env = env
  }

  text(name: SettingName, allowed: RegExp): string | undefined {
    const value = this.valueOf(name)
    if (value !== undefined && !allowed.test(value)) this.refuse(name, value)
    return value
  }

  /** Without slashes at its end. */
  webAddress(name: SettingName): string | undefined {
    return this.text(name, /^https?:\/\/[^\s/]+(\/\S*)?$/)?.replace(/\/+$/, '')
  }

  integer(name: SettingName, min: number, max: number): number {
    const value = this.valueOf(name) ?? ''
    const number = Number(value)
    if (!/^\d{1,15}$/.test(value) || number < min || number > max) this.refuse(name, value)
    return number
  }

  boolean(name: SettingName): boolean {
    return this.oneOf(name, ['true', 'false'] as const) === 'true'
  }

  oneOf<T extends string>(name: SettingName, allowed: readonly [T, ...T[]]): T {
    const value = this.valueOf(name)
    const found = allowed.find((one) => one === value)
    if (found === undefined) this.refuse(name, value ?? '')
    return found ?? allowed[0]
  }

  parsed<T>(name: SettingName, parse: (text: string) => T | undefined): T {
    const value = this.valueOf(name) ?? ''
    const result = parse(value)
    if (result === undefined) this.refuse(name, value)
    return result as T // finish() throws before an undefined one is used
  }

  finish(): void {
    if (this.problems.length === 0) return
    throw new CommandError(`Wrong settings:\n${this.problems.map((line) => `  ${line}`).join('\n')}`)
  }

  /** Empty counts as unset: `DATABASE_URL=` in a .env file is how people switch a setting off. */
  private valueOf(name: SettingName): string | undefined {
    const value = this.env[name]
    if (value !== undefined && value !== '') return value
    const { defaultText } = settingOf(name)
    return defaultText.startsWith('unset') ? undefined : defaultText
  }

  private refuse(name: SettingName, value: string): void {
    const setting = settingOf(name)
    const shown = setting.secret ? '***' : JSON.stringify(value)
    this.problems.push(`${name} is ${shown}; allowed: ${setting.type}`)
  }
}

function settingOf(name: SettingName): Setting {
  return SETTINGS.find((setting) => setting.name === name)!
}

/**
 * The settings in force, secrets masked, one `NAME=value` a line.
 *
 * @example
 * describeConfig({ DATABASE_URL: 'postgres://ann:secret@db/land' }) // …'DATABASE_URL=postgres://ann:***@db/land'…
 */
export function describeConfig(env: Environment): string {
  return SETTINGS.map(({ name, defaultText }) => {
    const given = env[name]
    if (given === undefined || given === '')
      return `${name}=${defaultText.startsWith('unset') ? '' : defaultText}`
    return `${name}=${settingOf(name).secret ? maskPassword(given) : given}`
  }).join('\n')
}

/** An address without its password and without its query, which may hold one too. */
export function maskPassword(address: string): string {
  try {
    const url = new URL(address)
    const user = url.username ? `${url.username}${url.password ? ':***' : ''}@` : ''
    return `${url.protocol}//${user}${url.host}${url.pathname}${url.search ? '?***' : ''}`
  } catch {
    return '***'
  }
}
