import { parseEnv } from 'node:util'
import { CommandError } from '../errors.ts'
import { describeSettings, type Environment, maskAddresses, readSettings } from './setting-reader.ts'
import { SETTINGS, type Settings } from './settings.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const DAY_MS = 24 * 60 * MINUTE_MS
const METRICS_PATH = '/metrics'
/** The audience of the issuer's access tokens. */
const ISSUER_AUDIENCE: string = 'https://api.poap.tech'
/** About 100 a minute: the limit that partners of the issuer observed; no number is documented. */
export const SLOW_ISSUER_CALLS_PER_SECOND = 100 / 60

/** Limits that no operator has a reason to change. Tests pass others to {@link readConfig}; the environment has no way to. */
const FIXED_LIMITS = {
  /** How old figures of the metrics may be that are counted in the database. */
  metricsMaxAgeMs: 15 * SECOND_MS,
  /** Open streams of changes, for all clients; worker processes divide them. */
  maxChangeStreams: 10_000,
  /** The most blocks of one request for logs. A node that refuses so many is asked for fewer. */
  maxRangeBlocks: 10_000,
  /** The most calls to Ethereum nodes at a time: for logs of the history, for contracts, and for the comparison with contracts, each. */
  chainCallsInFlight: 4,
  /** How long the answer of a presence provider is cached. */
  presenceCacheMs: 5 * SECOND_MS,
  /** Events that may wait for the operator at a time. */
  maxWaitingEvents: 200,
  /** Lists of tokens, and pictures that have to be drawn, that one network address may read per minute; 0 is no limit. */
  tokenListsPerMinute: 240,
  /** Pictures of links to tokens that one network address may have drawn per minute; 0 is no limit. Each takes a quarter of a second. */
  sharePicturesPerMinute: 20,
  /** Open grants of one event at a time: neither used nor expired. */
  maxOpenGrants: 100_000,
  /** Grants with a right signature that may arrive for one event per minute; 0 is no limit. */
  eventGrantsPerMinute: 6_000,
  /** Zero bits of the first proof of work of an organiser's client, for which a phone needs some seconds; each bit doubles them. */
  organiserProofBits: 22,
}
export type FixedLimits = Readonly<typeof FIXED_LIMITS>

export type { PresenceProviderConfig } from './setting-grammars.ts'
export type { Environment } from './setting-reader.ts'
export type { ChainHead, LogLevel, PresencePolicy } from './settings.ts'

/** All settings of the server: read once from the environment, checked, immutable. */
export type Config = ReturnType<typeof configOf>
/** The settings of the attendance interface: see docs/attendance/operators.md. */
export type AttendanceConfig = Config['attendance']
export type IssuerConfig = AttendanceConfig['issuer']
export type PresenceConfig = AttendanceConfig['presence']
/** How many requests of one kind a client, player or organiser may send per minute; 0 is no limit. */
export type LimitsConfig = AttendanceConfig['limits']

/**
 * Reads all settings and reports every bad one at once.
 *
 * @param limits other limits than the fixed ones, for tests
 * @throws {CommandError} naming each bad setting, its value and what is allowed.
 * @example
 * readConfig({ PORT: '8080' }).port // 8080
 */
export function readConfig(env: Environment, limits: Partial<FixedLimits> = {}): Config {
  const config = configOf(readSettings(SETTINGS, env), { ...FIXED_LIMITS, ...limits })
  if (config.isProduction) refuseSimulators(config.attendance)
  return Object.freeze(config)
}

/**
 * The current settings, one `NAME=value` per line, with secrets masked.
 *
 * @example
 * describeConfig({ DATABASE_URL: 'postgres://ann:secret@db/land' }) // …'DATABASE_URL=postgres://ann:***@db/land'…
 */
export function describeConfig(env: Environment): string {
  return describeSettings(SETTINGS, env)
}

/**
 * The names in a file of settings that no setting has, in alphabetical order: misspelt ones, and variables of other programs.
 *
 * @param file text of a file `.env`
 * @example
 * unknownSettings('PROT=4999\nHOST=127.0.0.1') // ['PROT']
 */
export function unknownSettings(file: string): string[] {
  return Object.keys(parseEnv(file))
    .filter((name) => !Object.hasOwn(SETTINGS, name))
    .sort()
}

/** Gives each setting the name that the code uses. The types of the values come from their kinds in settings.ts. */
function configOf(settings: Settings, limits: FixedLimits) {
  return {
    port: settings.PORT,
    host: settings.HOST,
    /** Processes that serve together. */
    workers: settings.WORKERS,
    dataDir: settings.DATA_DIR,
    /** Undefined: the embedded database in `dataDir`. */
    databaseUrl: settings.DATABASE_URL,
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    databaseSync: settings.DATABASE_SYNC,
    databaseTimeoutMs: settings.DATABASE_TIMEOUT_MS,
    /** Without a slash at its end. */
    publicUrl: settings.PUBLIC_URL,
    /** Beginning of `external_url` in token metadata; undefined: `publicUrl` and `/v2`. */
    externalBaseUrl: settings.EXTERNAL_BASE_URL,
    logLevel: settings.LOG_LEVEL,
    requestTimeoutMs: settings.REQUEST_TIMEOUT_MS,
    connections: {
      /** For all clients of this process. */
      max: settings.CONNECTIONS_MAX,
      /** For one network address; 0 is no limit. */
      perClient: settings.CONNECTIONS_PER_CLIENT,
    },
    slowReaders: {
      timeoutMs: 2 * settings.REQUEST_TIMEOUT_MS,
      /** A client that takes less of its answer on average over that time is disconnected. */
      bytesPerSecond: 1_000,
    },
    /** How long the server still serves after SIGTERM while it says that it is not ready. */
    shutdownDelayMs: settings.SHUTDOWN_DELAY_MS,
    world: settings.WORLD,
    isProduction: settings.NODE_ENV === 'production',
    trustedProxies: settings.TRUSTED_PROXIES ?? [],
    changeStreams: {
      /** For all clients of this process. */
      max: limits.maxChangeStreams,
      /** For one network address; 0 is no limit. */
      perClient: settings.CHANGE_STREAMS_PER_CLIENT,
    },
    metrics: {
      /** Undefined: the port of everything else. */
      port: settings.METRICS_PORT,
      host: settings.METRICS_HOST,
      path: METRICS_PATH,
      /** The age of figures that are counted in the database. */
      maxAgeMs: limits.metricsMaxAgeMs,
    },
    mapCaching: {
      /** How long clients may use map images and tile data without asking; 0: they ask before each use. */
      maxAgeMs: settings.MAP_MAX_AGE_MS,
      /** How long after that they may still use them while they ask. */
      staleMs: 3 * MINUTE_MS,
    },
    /** Units of one parcel read for one network address; 0 is no limit. */
    readCostPerMinute: settings.READ_COST_PER_MINUTE,
    chain: {
      /** In order of preference; without any, the chain is not followed. They may contain keys. */
      nodeUrls: settings.CHAIN_RPC_URLS ?? [],
      /** `mainnet`, `sepolia`, or the path of a file. */
      network: settings.CHAIN_NETWORK,
      head: settings.CHAIN_HEAD,
      /** Blocks that must follow one before it is shown. */
      confirmations: settings.CHAIN_CONFIRMATIONS,
      /** Blocks that must follow one until it counts as final; undefined: only what nodes call finalized. */
      finality: settings.CHAIN_FINALITY,
      pollMs: settings.CHAIN_POLL_MS,
      maxRangeBlocks: limits.maxRangeBlocks,
      callsInFlight: limits.chainCallsInFlight,
      /** In this time all land is compared with the contracts once more; 0: only once. */
      checkRoundMs: settings.CHAIN_CHECK_ROUND_MS,
      /** Address of a transaction, with `{tx}` in place of its hash. */
      explorerUrl: settings.CHAIN_EXPLORER_URL,
    },
    /** Addresses of links of the map page, with names in braces; undefined: no such link. */
    pageLinks: { visit: settings.VISIT_URL, market: settings.MARKET_URL },
    listings: {
      /** Undefined: none are read. It may contain a key. */
      url: settings.LISTINGS_URL,
      intervalMs: settings.LISTINGS_INTERVAL_MS,
      callsPerSecond: settings.LISTINGS_CALLS_PER_SECOND,
      isShown: settings.SHOW_SIGNED_OFFERS,
    },
    /** Offers to rent: they share the rest with `listings`. */
    rentals: { url: settings.RENTALS_URL, intervalMs: settings.RENTALS_INTERVAL_MS },
    attendance: attendanceConfigOf(settings, limits),
  } as const
}

function attendanceConfigOf(settings: Settings, limits: FixedLimits) {
  return {
    /** 32 bytes; where undefined, the embedded database uses a file in `dataDir`, and PostgreSQL refuses to start. */
    key: settings.ATTENDANCE_KEY,
    /** 32 bytes each; values of the database may be encrypted with them. */
    otherKeys: settings.ATTENDANCE_OTHER_KEYS ?? [],
    /** Keys that sign tokens; undefined: a file in `dataDir` of the embedded database, none with PostgreSQL. */
    tokenKeyFile: settings.TOKEN_KEY_FILE,
    makers: {
      who: settings.EVENT_MAKERS,
      operatorKey: settings.OPERATOR_KEY,
      maxWaiting: limits.maxWaitingEvents,
    },
    issuer: {
      /** Without a slash at its end. */
      url: settings.ISSUER_URL,
      tokenUrl: settings.ISSUER_TOKEN_URL,
      audience: ISSUER_AUDIENCE,
      apiKey: settings.ISSUER_API_KEY,
      clientId: settings.ISSUER_CLIENT_ID,
      clientSecret: settings.ISSUER_CLIENT_SECRET,
      /** For one call, but for the list of codes, which may take longer. */
      timeoutMs: settings.ISSUER_TIMEOUT_MS,
      callsPerSecond: settings.ISSUER_CALLS_PER_SECOND,
      slowCallsPerSecond: SLOW_ISSUER_CALLS_PER_SECOND,
    },
    presence: {
      providers: settings.PRESENCE_PROVIDERS,
      policy: settings.PRESENCE_POLICY,
      realm: settings.PRESENCE_REALM,
      timeoutMs: 5 * SECOND_MS,
      cacheMs: limits.presenceCacheMs,
      /** An older heartbeat is ignored. */
      maxAgeMs: MINUTE_MS,
      /** How many parcels away from a registered one a player may be. */
      toleranceParcels: settings.PRESENCE_TOLERANCE_PARCELS,
    },
    maxOpenGrants: limits.maxOpenGrants,
    maxOpenGrantsOfAll: settings.GRANTS_MAX,
    /** The largest difference between the time of a signature and the time of the server. */
    signatureWindowMs: MINUTE_MS,
    /** How long the answer to a claim waits for the issuer before it says `pending`. */
    claimWaitMs: settings.CLAIM_WAIT_MS,
    /** The number of zero bits that the proof of work of a signed claim needs; 0 requires no proof. */
    proofOfWorkBits: settings.CLAIM_PROOF_OF_WORK_BITS,
    organisers: {
      /** How long a pass is valid. */
      passTtlMs: 30 * DAY_MS,
      proofBits: limits.organiserProofBits,
    },
    limits: {
      /** From one network address, to `/captcha` and `/claim`. */
      clientPerMinute: settings.LIMIT_CLIENT_PER_MINUTE,
      /** Images of captchas, and pictures of events and tokens, from one network address. */
      imagePerMinute: settings.LIMIT_CAPTCHA_IMAGE_PER_MINUTE,
      /** By one player, to `/captcha` and `/claim`. */
      playerPerMinute: settings.LIMIT_PLAYER_PER_MINUTE,
      /** From one network address, to the calls that carry an edit code. */
      organiserPerMinute: settings.LIMIT_ORGANISER_PER_MINUTE,
      /** From one network address, to `POST /events`. */
      makerPerMinute: settings.LIMIT_EVENTS_PER_MINUTE,
      /** Events from one network address. */
      eventsPerDay: settings.LIMIT_EVENTS_PER_DAY,
      waitingEventsPerDay: settings.LIMIT_WAITING_EVENTS_PER_DAY,
      /** Lists of tokens and drawn pictures, from one network address. */
      tokenListsPerMinute: limits.tokenListsPerMinute,
      sharePicturesPerMinute: limits.sharePicturesPerMinute,
      /** From one network address, to `/grants`. */
      grantsPerMinute: settings.LIMIT_GRANTS_PER_MINUTE,
      /** For one event, with a right signature. */
      eventGrantsPerMinute: limits.eventGrantsPerMinute,
    },
  } as const
}

/** In production, issuer and presence providers must be on other machines: simulators run on this one. */
function refuseSimulators({ issuer, presence }: AttendanceConfig): void {
  const addresses: [string, string][] = [
    ['ISSUER_URL', issuer.url],
    ['ISSUER_TOKEN_URL', issuer.tokenUrl],
    ...presence.providers.map(({ url }): [string, string] => ['PRESENCE_PROVIDERS', url]),
  ]
  const problems = addresses
    .filter(([, address]) => !isOnAnotherMachine(address))
    .map(
      ([name, address]) =>
        `  ${name}: ${maskAddresses(address)} is not an https:// address of another machine`,
    )
  if (problems.length > 0) {
    throw new CommandError(`Wrong settings for NODE_ENV=production:\n${problems.join('\n')}`)
  }
}

function isOnAnotherMachine(address: string): boolean {
  const { protocol, hostname } = new URL(address)
  return protocol === 'https:' && !/^(localhost|.*\.localhost|127\..*|0\.0\.0\.0|\[::1?\])$/.test(hostname)
}
