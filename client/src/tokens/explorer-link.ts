import { NO_ADDRESS } from './address.ts'
import { DOMAIN_NAME, FIELDS, LEGACY_TYPE, NO_BYTES32, PRIMARY_TYPE } from './attestation.ts'

/** A link has some 700 characters. */
const MAX_LINK_CHARS = 64 * 1_024
/** The longest JSON in a link, which is compressed. */
const MAX_JSON_BYTES = 256 * 1_024
const MARK = '#attestation='

/** Whether a text is a link of the public explorer, or has the part of one that holds an attestation. */
export function isExplorerLink(text: string): boolean {
  return text.includes(MARK)
}

/**
 * The package in a link of the public explorer, of whatever chain. All of it is in the link: nothing is requested. Links round
 * times above 2^53, so such an attestation counts as damaged.
 *
 * @returns JSON for `verifyToken`, of which nothing has been checked; undefined where the link holds no attestation
 * @example
 * const { verdict } = verifyToken(await readExplorerLink('https://easscan.org/offchain/url/#attestation=eN…'), trust)
 */
export async function readExplorerLink(link: string): Promise<object | undefined> {
  const at = link.indexOf(MARK)
  if (at < 0 || link.length > MAX_LINK_CHARS) return undefined
  try {
    const binary = atob(decodeURIComponent(link.slice(at + MARK.length).trim()))
    const json = await inflate(Uint8Array.from(binary, (char) => char.charCodeAt(0)))
    const values: unknown = JSON.parse(json)
    return Array.isArray(values) ? packageOf(values) : undefined
  } catch {
    return undefined
  }
}

/** The order of the array is that of `explorerLink`. Attestations of version 0 may end before their version. */
function packageOf(values: readonly unknown[]): object {
  const [domainVersion, chainId, verifyingContract, r, s, v, signer, uid, schema] = values
  const [recipient, time, expirationTime, refUID, revocable, data, , version = 0, salt] = values.slice(9)
  const primaryType = version === 0 ? LEGACY_TYPE : PRIMARY_TYPE
  const types = { [primaryType]: version === 2 ? FIELDS[2] : version === 1 ? FIELDS[1] : FIELDS[1].slice(1) }
  return {
    sig: {
      version,
      uid,
      domain: { name: DOMAIN_NAME, version: domainVersion, chainId, verifyingContract },
      primaryType,
      types,
      message: {
        ...{ version, schema, recipient: recipient === '0' ? NO_ADDRESS : recipient, time, expirationTime },
        ...{ revocable, refUID: refUID === '0' ? NO_BYTES32 : refUID, data },
        ...(salt !== undefined && salt !== null && { salt }),
      },
      signature: { v, r, s },
    },
    signer,
  }
}

/** @throws for bytes that are not compressed text, or for too many of them */
async function inflate(bytes: Uint8Array): Promise<string> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream('deflate'))
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let text = ''
  let size = 0
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.length
    if (size > MAX_JSON_BYTES) {
      await reader.cancel()
      throw new Error('the attestation of a link is too large')
    }
    text += decoder.decode(value, { stream: true })
  }
}
