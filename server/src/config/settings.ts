import { parseWorld } from '@landpass/client/grid'
import { MAX_PRESENCE_PROVIDERS, PRESENCE_STYLES, parseProviders, parseProxies } from './setting-grammars.ts'
import { boolean, hexBytes, integer, oneOf, parsed, text, webAddress, word } from './setting-kinds.ts'
import type { SettingTable, SettingValues } from './setting-reader.ts'

/** The levels of log lines, the most important first. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const PRESENCE_POLICIES = ['any', 'all'] as const
export type PresencePolicy = (typeof PRESENCE_POLICIES)[number]

const PROVIDERS_ALLOWED = `${PRESENCE_STYLES.map((style) => `${style}=<address>`).join(' or ')}, separated by blanks, ${MAX_PRESENCE_PROVIDERS} at most`

/**
 * All settings of the server. `npm run generate` makes `docs/settings.md` from this table, in the same order. The
 * check, the error text and the type of a value come from its kind: see setting-kinds.ts.
 */
export const SETTINGS = {
  PORT: {
    kind: integer({ min: 0, max: 65_535 }),
    default: 3000,
    meaning: 'Port to listen on; 0 uses any free port.',
  },
  HOST: {
    kind: text('host name or address', /^[^\s/]+$/),
    default: '127.0.0.1',
    meaning: 'Address to listen on. 127.0.0.1 accepts only this machine, 0.0.0.0 all networks.',
  },
  DATA_DIR: {
    kind: text('folder', /./),
    default: './data',
    meaning:
      'Folder of the embedded database. With either database it also holds a copy of the land, for a faster start.',
  },
  DATABASE_URL: {
    kind: text('postgres:// address', /^postgres(ql)?:\/\/\S+$/),
    unset: 'the embedded database',
    meaning:
      'PostgreSQL 14 or newer, for example postgres://user:password@host:5432/landpass. Several hosts are separated by commas. PgBouncer must be 1.21 or newer (docs/running.md).',
    secret: 'password',
  },
  DATABASE_POOL_SIZE: {
    kind: integer({ min: 2, max: 100 }),
    default: 10,
    meaning: 'The most connections to PostgreSQL of one process.',
  },
  DATABASE_SYNC: {
    kind: boolean,
    default: true,
    meaning:
      'Whether the embedded database waits until each commit is on disk. false is faster, but the last commits can be lost when the machine (not the process) fails.',
  },
  DATABASE_TIMEOUT_MS: {
    kind: integer({ min: 100, max: 600_000 }),
    default: 10_000,
    meaning: 'How long one database query of a request may take, in milliseconds.',
  },
  PUBLIC_URL: {
    kind: webAddress,
    unset: 'the host of each request',
    meaning: 'Public address of the server, used in openapi.json, tiles.json and token metadata.',
  },
  EXTERNAL_BASE_URL: {
    kind: webAddress,
    unset: 'PUBLIC_URL and /v2',
    meaning:
      'Address of a marketplace: external_url in token metadata is this and /contracts/<address>/tokens/<id>.',
  },
  LOG_LEVEL: {
    kind: oneOf(LOG_LEVELS),
    default: 'info',
    meaning:
      'The least important level that is logged. debug logs every request, which makes the server about a third slower.',
  },
  REQUEST_TIMEOUT_MS: {
    kind: integer({ min: 1_000, max: 600_000 }),
    default: 15_000,
    meaning: 'How long a client may take to send its request, in milliseconds.',
  },
  WORLD: {
    kind: parsed('minX,minY,maxX,maxY (no min above its max), several separated by ;', parseWorld),
    default: '-150,-150,150,150',
    meaning:
      "The world's shape: one or more rectangles, including their corners. Coordinates outside are refused.",
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
      'Proxies whose X-Forwarded-For header is used as the address of the client. Without it, limits count the address of the connection.',
  },
  CHANGE_STREAMS_MAX: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 10_000,
    meaning:
      'The most open streams of /v2/changes in one process. Each needs about 10 kB of memory and a file descriptor. 0 allows none.',
  },
  CHANGE_STREAMS_PER_CLIENT: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 100,
    meaning:
      'The most open streams of one network address; 0 is no limit. Behind a proxy that is not in TRUSTED_PROXIES, all clients have one address.',
  },
  ATTENDANCE_KEY: {
    kind: hexBytes({ count: 32 }),
    unset: 'DATA_DIR/attendance.key, made at the first start on the embedded database',
    meaning:
      'Encrypts claim codes in the database. Required with PostgreSQL, and the same for all processes. Without it the stored codes are lost.',
    secret: 'whole',
  },
  ISSUER_URL: {
    kind: webAddress,
    default: 'https://api.poap.tech',
    meaning: 'Address of the token issuer (POAP).',
  },
  ISSUER_TOKEN_URL: {
    kind: webAddress,
    default: 'https://auth.accounts.poap.xyz/oauth/token',
    meaning: 'Address where the issuer gives access tokens.',
  },
  ISSUER_AUDIENCE: {
    kind: word,
    default: 'https://api.poap.tech',
    meaning: 'The audience of the access token: the interface of the issuer that it is for.',
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
    meaning: "The operator's client id at the issuer.",
    secret: 'whole',
  },
  ISSUER_CLIENT_SECRET: {
    kind: word,
    unset: 'as ISSUER_API_KEY',
    meaning: 'The secret that belongs to ISSUER_CLIENT_ID.',
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
      'The most calls to the issuer per second in this process, on average. A claim needs two calls. Divide the issuer’s limit by the number of processes.',
  },
  PRESENCE_PROVIDERS: {
    kind: parsed(PROVIDERS_ALLOWED, parseProviders),
    default:
      'peers=https://archipelago-ea-stats.decentraland.org/peers participants=https://comms-gatekeeper.decentraland.org/scene-participants',
    meaning: 'Services that know where players are, each with its interface.',
  },
  PRESENCE_POLICY: {
    kind: oneOf(PRESENCE_POLICIES),
    default: 'any',
    meaning: 'any: one provider that finds the player at the event is enough. all: every provider has to.',
  },
  PRESENCE_REALM: {
    kind: word,
    default: 'main',
    meaning: 'The realm whose players may claim, as providers of the style participants name it.',
  },
  PRESENCE_TIMEOUT_MS: {
    kind: integer({ min: 100, max: 60_000 }),
    default: 5_000,
    meaning: 'How long one call to a presence provider may take, in milliseconds.',
  },
  PRESENCE_CACHE_MS: {
    kind: integer({ min: 0, max: 60_000 }),
    default: 5_000,
    meaning: 'How long the answer of a provider is cached, in milliseconds.',
  },
  PRESENCE_MAX_AGE_MS: {
    kind: integer({ min: 1_000, max: 600_000 }),
    default: 60_000,
    meaning: 'How old the last heartbeat of a player may be, in milliseconds.',
  },
  PRESENCE_TOLERANCE_PARCELS: {
    kind: integer({ min: 0, max: 10 }),
    default: 0,
    meaning: 'How many parcels away from a registered one a player may be.',
  },
  SIGNATURE_WINDOW_MS: {
    kind: integer({ min: 1_000, max: 600_000 }),
    default: 60_000,
    meaning:
      'The largest difference between the time of a signed request and the time of the server, in milliseconds.',
  },
  CLAIM_WAIT_MS: {
    kind: integer({ min: 0, max: 20_000 }),
    default: 3_000,
    meaning:
      'How long a claim waits for the issuer before it is answered as pending, in milliseconds. The server still makes the token afterwards.',
  },
  CLAIM_PROOF_OF_WORK_BITS: {
    kind: integer({ min: 0, max: 30 }),
    default: 0,
    meaning: 'How many zero bits the proof of work of a signed claim must begin with; 0 requires no proof.',
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
/** The values of all settings, from the environment or their defaults. */
export type Settings = SettingValues<typeof SETTINGS>
