import { isIP } from 'node:net'
import { parseWorld, type World } from '@landpass/client/grid'
import { CommandError } from './errors.ts'
import { SettingReader } from './setting-reader.ts'
import { type Environment, LOG_LEVELS, type LogLevel, SETTINGS, type Setting, settingOf } from './settings.ts'

export type { Environment, LogLevel, Setting, SettingName } from './settings.ts'
export { LOG_LEVELS, SETTINGS } from './settings.ts'

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
  readonly changeStreams: ChangeStreamsConfig
  readonly attendance: AttendanceConfig
}

/** Streams of `/v2/changes` that may be open at a time. */
export interface ChangeStreamsConfig {
  /** In this process. */
  readonly max: number
  /** To one network address; 0 is no limit. */
  readonly perClient: number
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
    changeStreams: {
      max: read.integer('CHANGE_STREAMS_MAX', 0, 1_000_000),
      perClient: read.integer('CHANGE_STREAMS_PER_CLIENT', 0, 1_000_000),
    },
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
