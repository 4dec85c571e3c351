import { parse as parseLossless } from 'lossless-json'
import { AppError } from '../../errors.ts'

/** What a scene's request says of itself, as far as we read it. The player's own client wrote it: no proof of place. */
export interface SceneMetadata {
  /** SHA-256 of the body in hex; empty for no body, undefined from clients that do not say. */
  readonly hashPayload: string | undefined
  readonly isPreview: boolean
}

/** Clients sign requests of their own with other names; scenes cannot choose theirs. */
const SCENE_SIGNER = 'decentraland-kernel-scene'

const KNOWN_KEYS = spellings(
  'sceneId parcel tld network isGuest realm signer intent hashPayload origin', // what clients write today, and have written
)
const KNOWN_REALM_KEYS = spellings(
  'hostname protocol serverName domain catalystName layer room lighthouseVersion',
)

/**
 * Reads the metadata of a signed request.
 *
 * @param isCaseFolded the signature covers the lower-cased text only. Then somebody in between could have turned `signer`
 * into `Signer`, and a check of `signer` would find nothing: every key that we know must be spelled exactly, and stand
 * there once.
 * @throws {AppError} `bad_signature` when it is malformed, `wrong_signer` when no scene sent it
 */
export function readSceneMetadata(text: string, { isCaseFolded }: { isCaseFolded: boolean }): SceneMetadata {
  const metadata = parseRecord(text)
  const realm = asRecord(metadata?.realm) ?? {}
  if (!metadata) throw malformed('is not a JSON object')
  if (isCaseFolded && !(isSpelledAs(KNOWN_KEYS, metadata) && isSpelledAs(KNOWN_REALM_KEYS, realm))) {
    throw malformed('spells a key in another way than clients do')
  }
  if (isCaseFolded && hasDuplicateKey(text)) throw malformed('has a key twice')
  if (metadata.signer !== SCENE_SIGNER) {
    throw new AppError(
      'wrong_signer',
      'The request was not signed for a scene: send it with signedFetch from one.',
    )
  }
  const { hashPayload } = metadata
  if (hashPayload !== undefined && typeof hashPayload !== 'string') throw malformed('has an odd hashPayload')
  return { hashPayload, isPreview: isPreviewRealm(realm) }
}

/**
 * Letter case is ignored: in the older form of signing it is not protected, and a preview must not pass for a
 * deployed scene because of it.
 */
function isPreviewRealm({ serverName, hostname, domain }: Readonly<Record<string, unknown>>): boolean {
  if (typeof serverName === 'string' && serverName.toLowerCase() === 'localpreview') return true
  return [hostname, domain].some((place) => typeof place === 'string' && isOwnMachine(place))
}

/** `localhost:8000`, `http://192.168.1.7:8000`: where a builder's own machine serves a scene. */
function isOwnMachine(place: string): boolean {
  const host = place
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

/** JSON.parse keeps the last of two equal keys without a word; this parser refuses two that differ in value. */
function hasDuplicateKey(text: string): boolean {
  try {
    parseLossless(text)
    return false
  } catch {
    return true
  }
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asRecord(JSON.parse(text))
  } catch {
    return undefined
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? (value as Readonly<Record<string, unknown>>) : undefined
}

function malformed(what: string): AppError {
  return new AppError('bad_signature', `The signed metadata ${what}.`)
}
