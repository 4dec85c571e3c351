/** The address of a node, which may contain a key or a password, and what may be shown of it. */
export interface NodeAddress {
  /** Short, for logs and metrics: `node1`. */
  readonly name: string
  /** Scheme, host and port, for logs: `https://mainnet.example.org`. Parts of the host that may be a key are masked. */
  readonly origin: string
  /** For logs: `node1 (https://mainnet.example.org)` */
  readonly shown: string
  /** For requests only. */
  readonly url: URL
}

/** Shorter parts of an address, such as `v3`, are no secrets; masking them would make messages unreadable. */
const MIN_SECRET_LENGTH = 4
const MAX_SHOWN_LENGTH = 300
const MAX_MASKED_LENGTH = 10_000
const MASK = '***'

/**
 * Reads the address of a node.
 *
 * @param name short, and different from those of other nodes
 * @throws a `TypeError` that does not contain the text, for a text that is no address with http or https
 * @example
 * readNodeAddress('node1', 'https://ann:secret@rpc.example/v3/0123456789abcdef').shown // 'node1 (https://rpc.example)'
 */
export function readNodeAddress(name: string, text: string): NodeAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new TypeError(`${name} has no address with http:// or https://`)
  }
  url.username = decodable(url.username)
  url.password = decodable(url.password)
  const origin = `${url.protocol}//${shownHost(url.host)}`
  return { name, origin, shown: `${name} (${origin})`, url }
}

/**
 * A text for everyone: it names the node, and has nothing of its address.
 *
 * @example
 * withoutAddress(readNodeAddress('node1', 'https://rpc.example/key'), 'node1 (https://rpc.example): late') // 'node1: late'
 */
export function withoutAddress({ name, origin, shown, url }: NodeAddress, text: string): string {
  const hosts = [url.host, url.hostname].flatMap((host) => [host, shownHost(host)])
  // A host such as `node` is a word of the messages as well.
  const parts = [shown, origin, url.origin, ...hosts.filter((host) => /[.:]/.test(host))]
  return parts.reduce((rest, part) => rest.replace(new RegExp(escaped(part), 'gi'), name), text)
}

/** A host name, with or without its port, whose parts that may be a key are masked. */
function shownHost(host: string): string {
  return host
    .split('.')
    .map((label) => (mayBeKey(label) ? MASK : label))
    .join('.')
}

/** Whether a label of a host name may be a key: 16 or more hex digits, or as many characters with a digit. */
function mayBeKey(label: string): boolean {
  if (!/^[a-z\d-]+(?::\d+)?$/.test(label)) return false
  const parts = label.replace(/:\d+$/, '').split('-')
  const isHex = /^(?=.*\d)[a-f\d]{16,}$/.test(parts.join(''))
  return isHex || parts.some((part) => part.length >= 16 && /\d/.test(part))
}

/**
 * A text that a node has sent, short and without the secrets of the node's address: providers repeat the key in some
 * errors.
 *
 * @example
 * maskSecrets(readNodeAddress('node1', 'https://rpc.example/v3/0123456789'), 'no project 0123456789') // 'no project ***'
 */
export function maskSecrets(address: NodeAddress, text: string): string {
  const masked = hideSecrets(address, beginningOf(address, text))
  // Control characters would break up the lines of a log
  const line = masked.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > MAX_SHOWN_LENGTH ? `${line.slice(0, MAX_SHOWN_LENGTH)}…` : line
}

/** Enough of a text, without a part of a secret at its end: masking megabytes would take seconds. */
function beginningOf({ url }: NodeAddress, text: string): string {
  if (text.length <= MAX_MASKED_LENGTH) return text
  const beginning = text.slice(0, MAX_MASKED_LENGTH)
  const cut = secretsOf(url).map((secret) => sharedLength(beginning, secret))
  return beginning.slice(0, beginning.length - Math.max(0, ...cut))
}

/** How much of a secret the text ends with. */
function sharedLength(text: string, secret: string): number {
  const [end, start] = [text.slice(-secret.length).toLowerCase(), secret.toLowerCase()]
  for (let length = end.length; length > 0; length--) if (end.endsWith(start.slice(0, length))) return length
  return 0
}

/** A text for the log of which only the secrets of the node's address are masked. */
export function hideSecrets({ url }: NodeAddress, text: string): string {
  return secretsOf(url).reduce((rest, secret) => rest.replace(new RegExp(escaped(secret), 'gi'), MASK), text)
}

/** All parts of an address but scheme and host, and parts of the host that may be a key; as they are and decoded, the longest first. */
function secretsOf(url: URL): readonly string[] {
  const credentials = [url.username, url.password]
  const basic = Buffer.from(credentials.map(decoded).join(':')).toString('base64')
  const parts = [
    url.href,
    `${url.pathname}${url.search}`,
    url.search,
    ...credentials,
    basic,
    ...url.pathname.split('/'),
    ...url.search.split(/[?&=]/),
    url.hash.slice(1),
    ...url.hostname.split('.').filter(mayBeKey),
  ]
  const secrets = new Set(parts.flatMap((part) => [part, decoded(part)]))
  return [...secrets]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .sort((a, b) => b.length - a.length)
}

/** Percent signs that encode nothing are taken as they are. */
function decodable(text: string): string {
  try {
    decodeURIComponent(text)
    return text
  } catch {
    return text.replaceAll('%', '%25')
  }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
