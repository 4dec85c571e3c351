import { AppError } from '../../errors.ts'
import { asObject, parseOrUndefined } from '../../json-object.ts'

/** The metadata of a signed request, as far as it is used. The player's client writes it, so it proves no position. */
export interface SceneMetadata {
  /** SHA-256 of the body in hex; empty for no body, undefined from clients that do not send it. */
  readonly hashPayload: string | undefined
  readonly isPreview: boolean
  /** Whether the player has no wallet, and loses the address on leaving. Only some clients say so. */
  readonly isGuest: boolean
}

/** The signer of requests that a scene sends. A scene cannot change it; other parts of the client use other names. */
const SCENE_SIGNER = 'decentraland-kernel-scene'

const KNOWN_KEYS = spellings(
  'sceneId parcel tld network isGuest realm signer intent hashPayload origin', // of current and older clients
)
const KNOWN_REALM_KEYS = spellings(
  'hostname protocol serverName domain catalystName layer room lighthouseVersion',
)

/**
 * Reads the metadata of a signed request. Every known key must have its exact letter case and occur only once: the older
 * form of signing covers the text in lower case only, so an attacker could change `signer` to `Signer`, and of two equal
 * keys every reader takes another one.
 *
 * @throws {AppError} `bad_signature` when it is malformed, `wrong_signer` when no scene sent it
 */
export function readSceneMetadata(text: string): SceneMetadata {
  const metadata = asObject(parseOrUndefined(text))
  const realm = asObject(metadata?.realm) ?? {}
  if (!metadata) throw malformed('is not a JSON object')
  if (!isSpelledAs(KNOWN_KEYS, metadata) || !isSpelledAs(KNOWN_REALM_KEYS, realm))
    throw malformed('has a key in the wrong letter case')
  if (hasDuplicateKey(text, metadata)) throw malformed('has a key twice')
  if (metadata.signer !== SCENE_SIGNER) {
    throw new AppError(
      'wrong_signer',
      'The request was not signed for a scene. Send it from a scene with signedFetch.',
    )
  }
  const { hashPayload } = metadata
  if (hashPayload !== undefined && typeof hashPayload !== 'string')
    throw malformed('has a hashPayload that is not text')
  return { hashPayload, isPreview: isPreviewRealm(realm), isGuest: metadata.isGuest === true }
}

/**
 * Whether the realm is a preview. Letter case is ignored, because the older form of signing does not protect it: a
 * changed letter must not make a preview look like a deployed scene.
 */
function isPreviewRealm({ serverName, hostname, domain }: Readonly<Record<string, unknown>>): boolean {
  if (typeof serverName === 'string' && serverName.toLowerCase() === 'localpreview') return true
  return [hostname, domain].some((address) => typeof address === 'string' && isLocalAddress(address))
}

/** Whether an address is local or private, such as `localhost:8000` or `http://192.168.1.7:8000`: a preview runs there. */
function isLocalAddress(address: string): boolean {
  const host = address
    .toLowerCase()
    .replace(/^[a-z]+:\/\//, '')
    .replace(/[/?#].*$/, '')
  return /^(localhost|[\w.-]*\.localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|172\.(1[6-9]|2\d|3[01])\.[\d.]+|0\.0\.0\.0|\[::1?\])(:\d+)?$/.test(
    host,
  )
}

function spellings(words: string): ReadonlyMap<string, string> {
  return new Map(words.split(' ').map((word) => [word.toLowerCase(), word]))
}

function isSpelledAs(known: ReadonlyMap<string, string>, record: Readonly<Record<string, unknown>>): boolean {
  return Object.keys(record).every((key) => (known.get(key.toLowerCase()) ?? key) === key)
}

/** The strings of a JSON text, with the colon behind those that are keys. */
const STRINGS = /"(?:[^"\\]|\\.)*"\s*:?/g

/**
 * JSON.parse silently keeps the last of two equal keys: then the text has more keys than the value. A text that JSON.stringify
 * writes again as it is has no key twice: clients write such texts, and this takes a fraction of the time.
 */
function hasDuplicateKey(text: string, parsed: unknown): boolean {
  if (JSON.stringify(parsed) === text) return false
  const written = text.match(STRINGS)?.filter((string) => string.endsWith(':')).length ?? 0
  return written > countKeys(parsed)
}

/** The keys of a value and of all objects inside it. */
function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const ownKeys = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((count: number, item) => count + countKeys(item), ownKeys)
}

function malformed(what: string): AppError {
  return new AppError('bad_signature', `The signed metadata ${what}.`)
}
