/** The kinds of log lines, the most important first. */
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
    name: 'CHANGE_STREAMS_MAX',
    type: 'whole number, 0 to 1000000',
    defaultText: '10000',
    meaning:
      'How many streams of /v2/changes one process has open at most. Each takes about 10 kB of memory and a file descriptor. 0 serves none.',
  },
  {
    name: 'CHANGE_STREAMS_PER_CLIENT',
    type: 'whole number, 0 to 1000000',
    defaultText: '100',
    meaning:
      'How many of them one network address may have; 0 is no limit. Behind a proxy that TRUSTED_PROXIES does not name, all readers have one address.',
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

export function settingOf(name: SettingName): Setting {
  return SETTINGS.find((setting) => setting.name === name)!
}
