import { parseWorld } from '@landpass/client/grid'
import { MAX_PRESENCE_PROVIDERS, PRESENCE_STYLES, parseProviders, parseProxies } from './setting-grammars.ts'
import { boolean, hexBytes, integer, oneOf, parsed, text, webAddress, word } from './setting-kinds.ts'
import type { SettingTable, SettingValues } from './setting-reader.ts'

/** The kinds of log lines, the most important first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const PRESENCE_POLICIES = ['any', 'all'] as const
export type PresencePolicy = (typeof PRESENCE_POLICIES)[number]

const PROVIDERS_ALLOWED = `${PRESENCE_STYLES.map((style) => `${style}=<address>`).join(' or ')}, separated by blanks, ${MAX_PRESENCE_PROVIDERS} at most`

/**
 * Every setting of the server, in the order of `docs/settings.md`, which is made from this table. What a setting is
 * checked by, what an error says of it and the type of its value come from its kind: see setting-kinds.ts.
 */
export const SETTINGS = {
  PORT: {
    kind: integer({ min: 0, max: 65_535 }),
    default: 3000,
    meaning: 'Port to listen on; 0 takes a free one.',
  },
  HOST: {
    kind: text('host name or address', /^[^\s/]+$/),
    default: '127.0.0.1',
    meaning: 'Address to listen on; localhost is 127.0.0.1, and 0.0.0.0 every network of the machine.',
  },
  DATA_DIR: {
    kind: text('folder', /./),
    default: './data',
    meaning:
      'Where the embedded database lives, and with either database a copy of the land that makes the next start faster.',
  },
  DATABASE_URL: {
    kind: text('postgres:// address', /^postgres(ql)?:\/\/\S+$/),
    unset: 'the embedded database',
    meaning:
      'PostgreSQL 14 or newer, for example postgres://user:password@host:5432/landpass. Behind PgBouncer in transaction mode: its version 1.21 or newer.',
    secret: 'password',
  },
  DATABASE_POOL_SIZE: {
    kind: integer({ min: 2, max: 100 }),
    default: 10,
    meaning: 'Connections to PostgreSQL at most, per process.',
  },
  DATABASE_SYNC: {
    kind: boolean,
    default: true,
    meaning:
      'Whether the embedded database forces every commit onto the disk. false is faster and may lose the last commits when the machine (not the process) fails.',
  },
  DATABASE_TIMEOUT_MS: {
    kind: integer({ min: 100, max: 600_000 }),
    default: 10_000,
    meaning: 'How long one database query of a request may take, in milliseconds.',
  },
  PUBLIC_URL: {
    kind: webAddress,
    unset: 'the host that a request names',
    meaning: 'Where people reach the server, as written into openapi.json, tiles.json and token metadata.',
  },
  EXTERNAL_BASE_URL: {
    kind: webAddress,
    unset: 'PUBLIC_URL and /v2',
    meaning:
      'Where a marketplace shows tokens: external_url in token metadata is this and /contracts/<address>/tokens/<id>.',
  },
  LOG_LEVEL: {
    kind: oneOf(LOG_LEVELS),
    default: 'info',
    meaning:
      'The least important kind of log line to write. debug also writes a line for every request, which costs about a third of the speed.',
  },
  REQUEST_TIMEOUT_MS: {
    kind: integer({ min: 1_000, max: 600_000 }),
    default: 15_000,
    meaning: 'How long a client may take to send its request, in milliseconds.',
  },
  WORLD: {
    kind: parsed('minX,minY,maxX,maxY (no min above its max), several separated by ;', parseWorld),
    default: '-150,-150,150,150',
    meaning: "The world's shape: one or more rectangles, corners included. Coordinates outside are refused.",
  },
  NODE_ENV: {
    kind: word,
    default: 'development',
    meaning:
      'production refuses to start when the issuer or a presence provider is not an https:// address of another machine.',
  },
  TRUSTED_PROXIES: {
    kind: parsed('IP addresses or ranges (10.0.0.0/8), separated by commas', parseProxies),
    unset: 'none',
    meaning:
      'Proxies whose X-Forwarded-For is believed. Without, limits count the address at the other end of the connection.',
  },
  CHANGE_STREAMS_MAX: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 10_000,
    meaning:
      'How many streams of /v2/changes one process has open at most. Each takes about 10 kB of memory and a file descriptor. 0 serves none.',
  },
  CHANGE_STREAMS_PER_CLIENT: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 100,
    meaning:
      'How many of them one network address may have; 0 is no limit. Behind a proxy that TRUSTED_PROXIES does not name, all readers have one address.',
  },
  ATTENDANCE_KEY: {
    kind: hexBytes({ count: 32 }),
    unset: 'DATA_DIR/attendance.key, made at the first start on the embedded database',
    meaning:
      'Encrypts claim codes in the database. Required with PostgreSQL, the same for all processes; without it the stored codes cannot be read again.',
    secret: 'whole',
  },
  ISSUER_URL: {
    kind: webAddress,
    default: 'https://api.poap.tech',
    meaning: 'Where the token issuer (POAP) answers.',
  },
  ISSUER_TOKEN_URL: {
    kind: webAddress,
    default: 'https://auth.accounts.poap.xyz/oauth/token',
    meaning: 'Where the issuer gives out access tokens.',
  },
  ISSUER_AUDIENCE: {
    kind: word,
    default: 'https://api.poap.tech',
    meaning: 'Which interface of the issuer a token is asked for.',
  },
  ISSUER_API_KEY: {
    kind: word,
    unset: 'registering, loading codes and claiming answer attendance_not_configured',
    meaning: "The operator's API key at the issuer.",
    secret: 'whole',
  },
  ISSUER_CLIENT_ID: {
    kind: word,
    unset: 'as ISSUER_API_KEY',
    meaning: 'Whose tokens to ask for.',
    secret: 'whole',
  },
  ISSUER_CLIENT_SECRET: {
    kind: word,
    unset: 'as ISSUER_API_KEY',
    meaning: 'Proves that they are ours.',
    secret: 'whole',
  },
  ISSUER_TIMEOUT_MS: {
    kind: integer({ min: 100, max: 60_000 }),
    default: 10_000,
    meaning: 'How long one call to the issuer may take, in milliseconds.',
  },
  ISSUER_CALLS_PER_SECOND: {
    kind: integer({ min: 1, max: 10_000 }),
    default: 4,
    meaning:
      'How many calls to the issuer this process begins per second, on average; a claim costs two. Several processes share the issuer’s limit: divide.',
  },
  PRESENCE_PROVIDERS: {
    kind: parsed(PROVIDERS_ALLOWED, parseProviders),
    default:
      'peers=https://archipelago-ea-stats.decentraland.org/peers participants=https://comms-gatekeeper.decentraland.org/scene-participants',
    meaning: 'Who is asked where a player stands, and in which way.',
  },
  PRESENCE_POLICY: {
    kind: oneOf(PRESENCE_POLICIES),
    default: 'any',
    meaning: 'Whether one provider that sees the player at the event is enough, or all of them must.',
  },
  PRESENCE_REALM: {
    kind: word,
    default: 'main',
    meaning: 'The realm whose players may claim, as participants-style providers call it.',
  },
  PRESENCE_TIMEOUT_MS: {
    kind: integer({ min: 100, max: 60_000 }),
    default: 5_000,
    meaning: 'How long one call to a presence provider may take, in milliseconds.',
  },
  PRESENCE_CACHE_MS: {
    kind: integer({ min: 0, max: 60_000 }),
    default: 5_000,
    meaning: 'How long what a provider said is used again, in milliseconds.',
  },
  PRESENCE_MAX_AGE_MS: {
    kind: integer({ min: 1_000, max: 600_000 }),
    default: 60_000,
    meaning: 'How old the last heartbeat of a player may be, in milliseconds.',
  },
  PRESENCE_TOLERANCE_PARCELS: {
    kind: integer({ min: 0, max: 10 }),
    default: 0,
    meaning: 'How many parcels beside a registered one a player may stand.',
  },
  SIGNATURE_WINDOW_MS: {
    kind: integer({ min: 1_000, max: 600_000 }),
    default: 60_000,
    meaning: 'How far the time of a signed request may be from ours, either way, in milliseconds.',
  },
  CLAIM_WAIT_MS: {
    kind: integer({ min: 0, max: 20_000 }),
    default: 3_000,
    meaning:
      'How long a claim waits for the issuer before it is answered as pending, in milliseconds. The token is made all the same.',
  },
  CLAIM_PROOF_OF_WORK_BITS: {
    kind: integer({ min: 0, max: 30 }),
    default: 0,
    meaning: 'How many zero bits the proof of work of a signed claim must begin with; 0 asks for none.',
  },
  LIMIT_CLIENT_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 120,
    meaning: 'Requests to /captcha and /claim that one network address may send per minute; 0 is no limit.',
  },
  LIMIT_PLAYER_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 20,
    meaning: 'Signed requests that one player may send per minute; 0 is no limit.',
  },
  LIMIT_ORGANISER_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 30,
    meaning: 'Requests with an edit code that one network address may send per minute; 0 is no limit.',
  },
} as const satisfies SettingTable

export type SettingName = keyof typeof SETTINGS
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]
/** What the environment said, or the defaults. */
export type Settings = SettingValues<typeof SETTINGS>
