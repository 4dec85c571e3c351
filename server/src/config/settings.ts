import { parseWorld } from '@landpass/client/grid'
import {
  MAX_NODES,
  MAX_PRESENCE_PROVIDERS,
  PRESENCE_STYLES,
  parseKeys,
  parseNodeUrls,
  parseProviders,
  parseProxies,
  parseServerUrl,
} from './setting-grammars.ts'
import {
  addressWith,
  boolean,
  hexBytes,
  integer,
  oneOf,
  parsed,
  text,
  webAddress,
  word,
} from './setting-kinds.ts'
import type { SettingTable, SettingValues } from './setting-reader.ts'

/** The levels of log lines, the most important first. */
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

export const PRESENCE_POLICIES = ['any', 'all'] as const
export type PresencePolicy = (typeof PRESENCE_POLICIES)[number]

/** Up to which block the chain is followed: names of blocks at a node. */
const CHAIN_HEADS = ['latest', 'safe', 'finalized'] as const
export type ChainHead = (typeof CHAIN_HEADS)[number]

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
  WORKERS: {
    kind: integer({ min: 1, max: 64 }),
    default: 1,
    meaning:
      'How many processes `landpass serve` starts, on one port; above 1 with PostgreSQL only. Connections, streams and calls to the issuer are divided among them, rounded up; requests and the cost of reading are counted together.',
  },
  DATA_DIR: {
    kind: text('folder', /./),
    default: './data',
    meaning: 'Folder of the embedded database. It also holds a copy of the land, for a faster start.',
  },
  DATABASE_URL: {
    kind: text('postgres:// address', /^postgres(ql)?:\/\/\S+$/),
    unset: 'the embedded database',
    meaning:
      'PostgreSQL 14 or newer, for example postgres://user:password@host:5432/landpass. Several hosts are separated by commas (docs/operate/database.md).',
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
      'Whether the embedded database waits until each commit is on disk. false is faster, but a failing machine can lose the last commits.',
  },
  DATABASE_TIMEOUT_MS: {
    kind: integer({ min: 100, max: 600_000 }),
    default: 10_000,
    meaning: 'How long one database query of a request may take.',
  },
  PUBLIC_URL: {
    kind: webAddress,
    unset: 'the host of each request',
    meaning:
      'Public address of the server, used in openapi.json, tiles.json, token metadata and image_url of events made here.',
  },
  EXTERNAL_BASE_URL: {
    kind: webAddress,
    unset: 'PUBLIC_URL and /v2',
    meaning:
      'Address of a marketplace, for external_url in token metadata: /contracts/<address>/tokens/<id> below it.',
  },
  LOG_LEVEL: {
    kind: oneOf(LOG_LEVELS),
    default: 'info',
    meaning:
      'The least important level that is logged; `serve --demo` takes warn. debug logs every request, and makes the server a third slower.',
  },
  REQUEST_TIMEOUT_MS: {
    kind: integer({ min: 1_000, max: 600_000 }),
    default: 15_000,
    meaning:
      'How long a client may take to send its request. One that takes too little of its answer for twice this time is disconnected.',
  },
  CONNECTIONS_MAX: {
    kind: integer({ min: 10, max: 1_000_000 }),
    default: 20_000,
    meaning:
      'The most open connections of clients to one process; further ones are closed at once. Each needs a file descriptor.',
  },
  CONNECTIONS_PER_CLIENT: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 500,
    meaning:
      'The most open connections of one network address; 0 is no limit. Addresses in TRUSTED_PROXIES have no limit. Set 0 behind any other proxy.',
  },
  SHUTDOWN_DELAY_MS: {
    kind: integer({ min: 0, max: 600_000 }),
    default: 0,
    meaning: 'How long the server serves everything after SIGTERM, while /health/ready answers 503.',
  },
  WORLD: {
    kind: parsed('minX,minY,maxX,maxY (no min above its max), several separated by ;', parseWorld),
    default: '-150,-150,150,150',
    meaning:
      'One or more rectangles, including their corners. Coordinates outside are refused, but for parcels that the chain has there.',
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
    meaning: 'Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed (docs/operate/README.md).',
  },
  CHANGE_STREAMS_PER_CLIENT: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 100,
    meaning: 'The most open streams of one network address; 0 is no limit.',
  },
  METRICS_PORT: {
    kind: integer({ min: 0, max: 65_535 }),
    unset: 'PORT',
    meaning:
      'Port for the metrics alone; 0 uses any free port. If it is set, the metrics are not served on PORT.',
  },
  METRICS_HOST: {
    kind: text('host name or address', /^[^\s/]+$/),
    default: '127.0.0.1',
    meaning: 'Address on which METRICS_PORT listens.',
  },
  READ_COST_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000_000 }),
    default: 200_000,
    meaning:
      'What one network address may read per minute, in reads of one parcel (docs/http.md; the default is half of a core). 0 is no limit.',
  },
  MAP_MAX_AGE_MS: {
    kind: integer({ min: 0, max: 86_400_000 }),
    default: 120_000,
    meaning:
      'How long caches may use a map image or tile data without asking (whole seconds), and for three minutes more while they ask. 0: they ask before each use.',
  },
  CHAIN_RPC_URLS: {
    kind: parsed(`http:// or https:// addresses, separated by blanks, ${MAX_NODES} at most`, parseNodeUrls),
    unset: 'the chain is not followed, and players whose wallet is a contract cannot claim',
    meaning:
      'Ethereum nodes, in order of preference, for the land (docs/chain.md) and for signatures of wallets that are contracts. Masked.',
    secret: 'whole',
  },
  CHAIN_NETWORK: {
    kind: text('mainnet, sepolia or the path of a JSON file', /./),
    default: 'mainnet',
    meaning: 'The network with the contracts of the land, or a file with their addresses (docs/chain.md).',
  },
  CHAIN_HEAD: {
    kind: oneOf(CHAIN_HEADS),
    default: 'latest',
    meaning:
      'Up to which block the chain is followed. latest: seconds old, and undone where the chain reorganises. finalized: about 15 minutes old, and never undone.',
  },
  CHAIN_CONFIRMATIONS: {
    kind: integer({ min: 0, max: 1_000 }),
    default: 0,
    meaning: 'How many blocks must follow a block before it is shown, where CHAIN_HEAD is latest.',
  },
  CHAIN_FINALITY: {
    kind: integer({ min: 1, max: 100_000 }),
    unset: 'only blocks that the nodes call finalized are final',
    meaning:
      'How many blocks must follow a block until it counts as final, where the nodes do not say so. What is final is never undone.',
  },
  CHAIN_POLL_MS: {
    kind: integer({ min: 100, max: 600_000 }),
    default: 4_000,
    meaning: 'The longest time between two questions for a new block.',
  },
  CHAIN_CHECK_ROUND_MS: {
    kind: integer({ min: 0, max: 31_536_000_000 }),
    default: 72_000_000,
    meaning:
      'In this time all of the land is compared with the contracts, again and again (docs/chain-check.md). 0: once for each world.',
  },
  CHAIN_EXPLORER_URL: {
    kind: addressWith('tx'),
    unset: 'Etherscan for mainnet and Sepolia, no links for other networks',
    meaning: 'Where the map page links transactions to; {tx} stands for the hash.',
  },
  VISIT_URL: {
    kind: addressWith('x', 'y'),
    unset: 'the map page has no such link',
    meaning:
      'Where the map page links to for a visit of a parcel: https://play.decentraland.org/?position={x},{y}.',
  },
  MARKET_URL: {
    kind: addressWith('contract', 'token_id'),
    unset: 'the map page has no such link',
    meaning:
      'Where the map page links to for buying land and bidding for it: https://decentraland.org/marketplace/contracts/{contract}/tokens/{token_id}.',
  },
  LISTINGS_URL: {
    kind: parsed('http:// or https:// address', parseServerUrl),
    unset: 'offers that are signed off the chain are not read',
    meaning:
      'A marketplace server, or another Landpass, from which offers that are signed off the chain are read (docs/chain.md). Masked.',
    secret: 'whole',
  },
  LISTINGS_INTERVAL_MS: {
    kind: integer({ min: 1_000, max: 86_400_000 }),
    default: 60_000,
    meaning: 'The pause between two readings of these offers; after failures up to ten times as long.',
  },
  RENTALS_URL: {
    kind: parsed('http:// or https:// address', parseServerUrl),
    unset: 'offers to rent are not read',
    meaning: 'The same for offers to rent land: a rentals server, or another Landpass. Masked.',
    secret: 'whole',
  },
  RENTALS_INTERVAL_MS: {
    kind: integer({ min: 1_000, max: 86_400_000 }),
    default: 60_000,
    meaning: 'The pause between two readings of offers to rent; after failures up to ten times as long.',
  },
  LISTINGS_CALLS_PER_SECOND: {
    kind: integer({ min: 1, max: 1_000 }),
    default: 10,
    meaning: 'The most requests in a second to both servers together.',
  },
  SHOW_SIGNED_OFFERS: {
    kind: boolean,
    default: true,
    meaning:
      'Whether all answers show these offers while they can be accepted. false: only those of the offers of one asset do.',
  },
  ATTENDANCE_KEY: {
    kind: hexBytes({ count: 32 }),
    unset: 'DATA_DIR/attendance.key, made by the embedded database or by `landpass make-keys`',
    meaning:
      'Encrypts claim codes in the database. All processes need the same. Without it the stored codes are lost.',
    secret: 'whole',
  },
  ATTENDANCE_OTHER_KEYS: {
    kind: parsed('keys of 64 hex digits, separated by commas', parseKeys),
    unset: 'none',
    meaning: 'The next or the previous ATTENDANCE_KEY, while it is being changed.',
    secret: 'whole',
  },
  TOKEN_KEY_FILE: {
    kind: text('path of a file', /./),
    unset: 'DATA_DIR/token.key, made by the embedded database or by `landpass make-keys`',
    meaning:
      'File with the keys that sign tokens of events made here, 64 hex digits a line. All processes need the same.',
  },
  EVENT_MAKERS: {
    kind: oneOf(['anyone', 'approved', 'operator', 'nobody']),
    default: 'approved',
    meaning:
      'Who makes events at POST /events. approved: anyone, but tokens only after the operator has approved the event.',
  },
  OPERATOR_KEY: {
    kind: text('at least 32 characters without blanks', /^\S{32,}$/),
    unset: 'no call of an operator is accepted',
    meaning: 'What the operator sends in the header Operator-Key, to make and approve events.',
    secret: 'whole',
  },
  LIMIT_EVENTS_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 3,
    meaning: 'Events that one network address may make per minute, refused pictures included.',
  },
  LIMIT_EVENTS_PER_DAY: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 20,
    meaning: 'Events that one network address may make per day.',
  },
  LIMIT_WAITING_EVENTS_PER_DAY: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 3,
    meaning:
      'The same of events that have to wait for the approval of the operator. All IPv6 addresses of a /48 count as one.',
  },
  ISSUER_URL: {
    kind: webAddress,
    default: 'https://api.poap.tech',
    meaning: 'Address of the token issuer (POAP).',
  },
  ISSUER_TOKEN_URL: {
    kind: webAddress,
    default: 'https://auth.accounts.poap.xyz/oauth/token',
    meaning: 'Address for access tokens.',
  },
  ISSUER_API_KEY: {
    kind: word,
    unset:
      'only events that are made here can be served; calls about others answer attendance_not_configured',
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
    meaning: 'How long one call to the issuer may take; the list of codes of an event may take longer.',
  },
  ISSUER_CALLS_PER_SECOND: {
    kind: integer({ min: 1, max: 10_000 }),
    default: 4,
    meaning: 'The most calls of this server to the issuer per second, on average.',
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
  PRESENCE_TOLERANCE_PARCELS: {
    kind: integer({ min: 0, max: 10 }),
    default: 0,
    meaning: 'How many parcels away from a registered one a player may be.',
  },
  CLAIM_WAIT_MS: {
    kind: integer({ min: 0, max: 20_000 }),
    default: 3_000,
    meaning: 'How long a claim waits for the issuer before it is answered as pending.',
  },
  CLAIM_PROOF_OF_WORK_BITS: {
    kind: integer({ min: 0, max: 30 }),
    default: 0,
    meaning: 'How many zero bits the proof of work of a signed claim must begin with; 0 requires no proof.',
  },
  LIMIT_CLIENT_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 120,
    meaning: 'Requests to /captcha and /claim that one network address may send per minute.',
  },
  LIMIT_CAPTCHA_IMAGE_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 1_200,
    meaning:
      'Images of captchas, and pictures of events and tokens that are not in memory, that one network address may read per minute.',
  },
  LIMIT_PLAYER_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 20,
    meaning: 'Signed requests that one player may send per minute.',
  },
  LIMIT_ORGANISER_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 30,
    meaning: 'Requests with an edit code that one network address may send per minute.',
  },
  LIMIT_GRANTS_PER_MINUTE: {
    kind: integer({ min: 0, max: 1_000_000 }),
    default: 3_000,
    meaning: 'Grants that one network address may send per minute, right or wrong.',
  },
  GRANTS_MAX: {
    kind: integer({ min: 1, max: 10_000_000 }),
    default: 1_000_000,
    meaning: 'Open grants of all events together at a time. A million take some 350 MB of the database.',
  },
} as const satisfies SettingTable

export type SettingName = keyof typeof SETTINGS
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]
/** The values of all settings, from the environment or their defaults. */
export type Settings = SettingValues<typeof SETTINGS>
