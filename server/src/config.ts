import { isIP } from 'node:net'
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
  readonly isProduction: boolean
  readonly trustedProxies: readonly string[]
  readonly attendance: AttendanceConfig
}

/** The settings of the attendance interface: docs/attendance.md says how they play together. */
export interface AttendanceConfig {
  /** 32 bytes; undefined: made in `dataDir` for the embedded database, and required with PostgreSQL. */
  readonly key: Buffer | undefined
  readonly issuer: IssuerConfig
  readonly presence: PresenceConfig
  /** How far the time of a signature may be from ours, either way. */
  readonly signatureWindowMs: number
  /** How long a claim's answer waits for the issuer's, before it says `pending`. */
  readonly claimWaitMs: number
  /** Zero bits that a signed claim's proof of work must begin with; 0 asks for none. */
  readonly proofOfWorkBits: number
  readonly limits: LimitsConfig
}

export interface IssuerConfig {
  /** Without a slash at its end. */
  readonly url: string
  readonly tokenUrl: string
  readonly audience: string
  readonly apiKey: string | undefined
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  readonly timeoutMs: number
  readonly callsPerSecond: number
}

export const PRESENCE_STYLES = ['peers', 'participants'] as const
export type PresenceStyle = (typeof PRESENCE_STYLES)[number]

/** Somebody who knows where players are: see attendance/presence/. */
export interface PresenceProviderConfig {
  readonly style: PresenceStyle
  readonly url: string
}

export const PRESENCE_POLICIES = ['any', 'all'] as const
export type PresencePolicy = (typeof PRESENCE_POLICIES)[number]

export interface PresenceConfig {
  readonly providers: readonly PresenceProviderConfig[]
  readonly policy: PresencePolicy
  readonly realm: string
  readonly timeoutMs: number
  readonly cacheMs: number
  /** A heartbeat that is older counts as none. */
  readonly maxAgeMs: number
  /** How many parcels beside a registered one still count. */
  readonly toleranceParcels: number
}

/** Requests of one kind that one sender may make in a minute; 0 is no limit. */
export interface LimitsConfig {
  /** From one network address, to `/captcha` and `/claim`. */
  readonly clientPerMinute: number
  /** By one player, to `/captcha` and `/claim`. */
  readonly playerPerMinute: number
  /** From one network address, to the calls that carry an edit code. */
  readonly organiserPerMinute: number
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
    meaning:
      'PostgreSQL 14 or newer, for example postgres://user:password@host:5432/landpass. Behind PgBouncer in transaction mode: its version 1.21 or newer.',
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
  {
    name: 'NODE_ENV',
    type: 'text without blanks',
    defaultText: 'development',
    meaning:
      'production refuses to start when the issuer or a presence provider is not an https:// address of another machine.',
  },
  {
    name: 'TRUSTED_PROXIES',
    type: 'IP addresses or ranges (10.0.0.0/8), separated by commas',
    defaultText: 'unset: none',
    meaning:
      'Proxies whose X-Forwarded-For is believed. Without, limits count the address at the other end of the connection.',
  },
  {
    name: 'ATTENDANCE_KEY',
    type: '64 hex digits',
    defaultText: 'unset: DATA_DIR/attendance.key, made at the first start on the embedded database',
    meaning:
      'Encrypts claim codes in the database. Required with PostgreSQL, the same for all processes; without it the stored codes cannot be read again.',
    secret: true,
  },
  {
    name: 'ISSUER_URL',
    type: 'http:// or https:// address',
    defaultText: 'https://api.poap.tech',
    meaning: 'Where the token issuer (POAP) answers.',
  },
  {
    name: 'ISSUER_TOKEN_URL',
    type: 'http:// or https:// address',
    defaultText: 'https://auth.accounts.poap.xyz/oauth/token',
    meaning: 'Where the issuer gives out access tokens.',
  },
  {
    name: 'ISSUER_AUDIENCE',
    type: 'text without blanks',
    defaultText: 'https://api.poap.tech',
    meaning: 'Which interface of the issuer a token is asked for.',
  },
  {
    name: 'ISSUER_API_KEY',
    type: 'text without blanks',
    defaultText: 'unset: registering, loading codes and claiming answer attendance_not_configured',
    meaning: "The operator's API key at the issuer.",
    secret: true,
  },
  {
    name: 'ISSUER_CLIENT_ID',
    type: 'text without blanks',
    defaultText: 'unset: as ISSUER_API_KEY',
    meaning: 'Whose tokens to ask for.',
    secret: true,
  },
  {
    name: 'ISSUER_CLIENT_SECRET',
    type: 'text without blanks',
    defaultText: 'unset: as ISSUER_API_KEY',
    meaning: 'Proves that they are ours.',
    secret: true,
  },
  {
    name: 'ISSUER_TIMEOUT_MS',
    type: 'whole number, 100 to 60000',
    defaultText: '10000',
    meaning: 'How long one call to the issuer may take, in milliseconds.',
  },
  {
    name: 'ISSUER_CALLS_PER_SECOND',
    type: 'whole number, 1 to 10000',
    defaultText: '4',
    meaning:
      'How many calls to the issuer this process begins per second, on average; a claim costs two. Several processes share the issuer’s limit: divide.',
  },
  {
    name: 'PRESENCE_PROVIDERS',
    type: 'peers=<address> or participants=<address>, separated by blanks',
    defaultText:
      'peers=https://archipelago-ea-stats.decentraland.org/peers participants=https://comms-gatekeeper.decentraland.org/scene-participants',
    meaning: 'Who is asked where a player stands, and in which way.',
  },
  {
    name: 'PRESENCE_POLICY',
    type: 'any or all',
    defaultText: 'any',
    meaning: 'Whether one provider that sees the player at the event is enough, or all of them must.',
  },
  {
    name: 'PRESENCE_REALM',
    type: 'text without blanks',
    defaultText: 'main',
    meaning: 'The realm whose players may claim, as participants-style providers call it.',
  },
  {
    name: 'PRESENCE_TIMEOUT_MS',
    type: 'whole number, 100 to 60000',
    defaultText: '5000',
    meaning: 'How long one call to a presence provider may take, in milliseconds.',
  },
  {
    name: 'PRESENCE_CACHE_MS',
    type: 'whole number, 0 to 60000',
    defaultText: '5000',
    meaning: 'How long what a provider said is used again, in milliseconds.',
  },
  {
    name: 'PRESENCE_MAX_AGE_MS',
    type: 'whole number, 1000 to 600000',
    defaultText: '60000',
    meaning: 'How old the last heartbeat of a player may be, in milliseconds.',
  },
  {
    name: 'PRESENCE_TOLERANCE_PARCELS',
    type: 'whole number, 0 to 10',
    defaultText: '0',
    meaning: 'How many parcels beside a registered one a player may stand.',
  },
  {
    name: 'SIGNATURE_WINDOW_MS',
    type: 'whole number, 1000 to 600000',
    defaultText: '60000',
    meaning: 'How far the time of a signed request may be from ours, either way, in milliseconds.',
  },
  {
    name: 'CLAIM_WAIT_MS',
    type: 'whole number, 0 to 20000',
    defaultText: '3000',
    meaning:
      'How long a claim waits for the issuer before it is answered as pending, in milliseconds. The token is made all the same.',
  },
  {
    name: 'CLAIM_PROOF_OF_WORK_BITS',
    type: 'whole number, 0 to 30',
    defaultText: '0',
    meaning: 'How many zero bits the proof of work of a signed claim must begin with; 0 asks for none.',
  },
  {
    name: 'LIMIT_CLIENT_PER_MINUTE',
    type: 'whole number, 0 to 1000000',
    defaultText: '120',
    meaning: 'Requests to /captcha and /claim that one network address may send per minute; 0 is no limit.',
  },
  {
    name: 'LIMIT_PLAYER_PER_MINUTE',
    type: 'whole number, 0 to 1000000',
    defaultText: '20',
    meaning: 'Signed requests that one player may send per minute; 0 is no limit.',
  },
  {
    name: 'LIMIT_ORGANISER_PER_MINUTE',
    type: 'whole number, 0 to 1000000',
    defaultText: '30',
    meaning: 'Requests with an edit code that one network address may send per minute; 0 is no limit.',
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
    isProduction: read.text('NODE_ENV', WORD) === 'production',
    trustedProxies: read.optional('TRUSTED_PROXIES', parseProxies) ?? [],
    attendance: readAttendance(read),
  }
  read.finish()
  if (config.isProduction) refuseStandIns(config.attendance)
  return Object.freeze(config)
}

const WORD = /^\S+$/

function readAttendance(read: SettingReader): AttendanceConfig {
  return {
    key: hexBytes(read.text('ATTENDANCE_KEY', /^[\da-fA-F]{64}$/)),
    issuer: {
      url: read.webAddress('ISSUER_URL')!,
      tokenUrl: read.webAddress('ISSUER_TOKEN_URL')!,
      audience: read.text('ISSUER_AUDIENCE', WORD)!,
      apiKey: read.text('ISSUER_API_KEY', WORD),
      clientId: read.text('ISSUER_CLIENT_ID', WORD),
      clientSecret: read.text('ISSUER_CLIENT_SECRET', WORD),
      timeoutMs: read.integer('ISSUER_TIMEOUT_MS', 100, 60_000),
      callsPerSecond: read.integer('ISSUER_CALLS_PER_SECOND', 1, 10_000),
    },
    presence: {
      providers: read.parsed('PRESENCE_PROVIDERS', parseProviders),
      policy: read.oneOf('PRESENCE_POLICY', PRESENCE_POLICIES),
      realm: read.text('PRESENCE_REALM', WORD)!,
      timeoutMs: read.integer('PRESENCE_TIMEOUT_MS', 100, 60_000),
      cacheMs: read.integer('PRESENCE_CACHE_MS', 0, 60_000),
      maxAgeMs: read.integer('PRESENCE_MAX_AGE_MS', 1_000, 600_000),
      toleranceParcels: read.integer('PRESENCE_TOLERANCE_PARCELS', 0, 10),
    },
    signatureWindowMs: read.integer('SIGNATURE_WINDOW_MS', 1_000, 600_000),
    claimWaitMs: read.integer('CLAIM_WAIT_MS', 0, 20_000),
    proofOfWorkBits: read.integer('CLAIM_PROOF_OF_WORK_BITS', 0, 30),
    limits: {
      clientPerMinute: read.integer('LIMIT_CLIENT_PER_MINUTE', 0, 1_000_000),
      playerPerMinute: read.integer('LIMIT_PLAYER_PER_MINUTE', 0, 1_000_000),
      organiserPerMinute: read.integer('LIMIT_ORGANISER_PER_MINUTE', 0, 1_000_000),
    },
  }
}

/**
 * Reads the setting `TRUSTED_PROXIES`. Undefined when an entry is neither an address nor a range.
 *
 * @example
 * parseProxies('10.0.0.0/8, ::1') // ['10.0.0.0/8', '::1']
 */
export function parseProxies(text: string): readonly string[] | undefined {
  const entries = text.split(',').map((entry) => entry.trim())
  const areAll = entries.every((entry) => {
    const [address = '', prefix = '0', ...rest] = entry.split('/')
    const bits = isIP(address) === 4 ? 32 : 128
    return isIP(address) !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= bits && rest.length === 0
  })
  return areAll ? entries : undefined
}

function hexBytes(text: string | undefined): Buffer | undefined {
  return text === undefined ? undefined : Buffer.from(text, 'hex')
}

/**
 * Reads the setting `PRESENCE_PROVIDERS`. Undefined when an entry is malformed, or there are none or more than eight.
 *
 * @example
 * parseProviders('peers=https://stats.example/peers') // [{ style: 'peers', url: 'https://stats.example/peers' }]
 */
export function parseProviders(text: string): readonly PresenceProviderConfig[] | undefined {
  const entries = text.trim().split(/\s+/)
  const providers = entries.flatMap((entry) => {
    const [, style, url] = /^(\w+)=(https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?)$/.exec(entry) ?? []
    const known = PRESENCE_STYLES.find((one) => one === style)
    return known && url ? [{ style: known, url: url.replace(/\/+$/, '') }] : []
  })
  return providers.length === entries.length && providers.length <= 8 ? providers : undefined
}

/** In production nobody stands in for the issuer or for those who know where players are. */
function refuseStandIns({ issuer, presence }: AttendanceConfig): void {
  const addresses: [string, string][] = [
    ['ISSUER_URL', issuer.url],
    ['ISSUER_TOKEN_URL', issuer.tokenUrl],
    ...presence.providers.map(({ url }): [string, string] => ['PRESENCE_PROVIDERS', url]),
  ]
  const problems = addresses
    .filter(([, address]) => !isOfAnotherMachine(address))
    .map(([name, address]) => `  ${name}: ${address} is not an https:// address of another machine`)
  if (problems.length > 0) {
    throw new CommandError(`Wrong settings for NODE_ENV=production:\n${problems.join('\n')}`)
  }
}

function isOfAnotherMachine(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' && !/^(localhost|.*\.localhost|127\..*|0\.0\.0\.0|\[::1?\])$/.test(hostname)
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

  /** Undefined where the setting is unset. */
  optional<T>(name: SettingName, parse: (text: string) => T | undefined): T | undefined {
    return this.valueOf(name) === undefined ? undefined : this.parsed(name, parse)
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
    return `${name}=${shownSetting(settingOf(name), given)}`
  }).join('\n')
}

/** A key may look like an address, `abc:def`: only a setting that is one keeps anything. */
function shownSetting({ secret, type }: Setting, given: string): string {
  if (!secret) return given
  return type.includes('address') ? maskPassword(given) : '***'
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
