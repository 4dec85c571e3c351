import { createHash } from 'node:crypto'
import { HOUR_MS } from '@landpass/server/clock'
import { addressOf, signText } from '@landpass/server/ethereum/signatures'

/** A sign-in of the desktop client is valid for about a month. */
const SIGN_IN_MS = 30 * 24 * HOUR_MS

/** The metadata of a scene in the main world, as the desktop client writes it (without `hashPayload`). */
export const SCENE_METADATA = {
  sceneId: 'bafkreihpipyhrt75xyquwrynrtjadwb373xfosy7a5rhlh5vogjajye3im',
  parcel: '0,0',
  tld: 'org',
  network: 'mainnet',
  isGuest: false,
  realm: { hostname: 'realm-provider.decentraland.org', protocol: 'v3', serverName: 'main' },
  signer: 'decentraland-kernel-scene',
} as const

/** The realm of a scene that runs in preview on its builder's computer. */
export const PREVIEW_REALM = {
  hostname: 'localhost:8000',
  protocol: 'v3',
  serverName: 'LocalPreview',
} as const

export interface RequestToSign {
  readonly method: string
  /** Without host and query. */
  readonly path: string
  readonly body?: string | undefined
  readonly atMs: number
  /**
   * The signed text: all in lower case (`legacy`, as the desktop client does, the default), or metadata unchanged
   * (`newer`).
   */
  readonly form?: 'legacy' | 'newer' | undefined
  /** Fields that replace those of {@link SCENE_METADATA} or are added to them; undefined leaves a field out. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** A simulated player: a wallet, and an ephemeral key that the wallet has authorised. */
export interface SimulatedPlayer {
  /** In lower case. */
  readonly address: string
  /** Signs a request. @returns the headers that a scene's `signedFetch` would send */
  sign(request: RequestToSign): Record<string, string>
}

/**
 * Makes a player from a seed: the same seed makes the same player on every machine. Takes about 0.1 ms, and so does
 * signing.
 *
 * @example
 * const player = makePlayer('ann')
 * await fetch(`${server}/captcha`, { method: 'POST', headers: player.sign({ method: 'POST', path: '/captcha', atMs: Date.now() }) })
 */
export function makePlayer(seed: string): SimulatedPlayer {
  const wallet = keyOf(`${seed} wallet`)
  const key = keyOf(`${seed} ephemeral`)
  const address = addressOf(wallet)
  const keyAddress = addressOf(key)
  let signIn = { endsAtMs: -1, links: {} }
  return {
    address,
    sign: (request) => {
      const endsAtMs = endOfSignIn(request.atMs)
      if (signIn.endsAtMs !== endsAtMs) {
        signIn = { endsAtMs, links: signInLinks({ address, wallet, keyAddress, endsAtMs }) }
      }
      return { ...signIn.links, ...requestHeaders(request, key) }
    },
  }
}

/** In steps of a month, so that the headers depend only on seed and request, and players seldom sign in again. */
function endOfSignIn(atMs: number): number {
  return (Math.floor(atMs / SIGN_IN_MS) + 2) * SIGN_IN_MS
}

function keyOf(seed: string): Buffer {
  return createHash('sha256').update(`landpass simulated player: ${seed}`).digest()
}

interface SignIn {
  readonly address: string
  readonly wallet: Buffer
  readonly keyAddress: string
  readonly endsAtMs: number
}

function signInLinks({ address, wallet, keyAddress, endsAtMs }: SignIn): Record<string, string> {
  const expiration = new Date(endsAtMs).toISOString()
  const delegation = `Decentraland Login\nEphemeral address: ${keyAddress}\nExpiration: ${expiration}`
  return {
    'x-identity-auth-chain-0': link('SIGNER', address, ''),
    'x-identity-auth-chain-1': link('ECDSA_EPHEMERAL', delegation, signText(delegation, wallet)),
  }
}

function requestHeaders(request: RequestToSign, key: Buffer): Record<string, string> {
  const { method, path, body = '', atMs, form = 'legacy' } = request
  const hashPayload = body === '' ? '' : createHash('sha256').update(body).digest('hex')
  const metadata = JSON.stringify({ ...SCENE_METADATA, hashPayload, ...request.metadata })
  const newer = `${`${method}:${path}`.toLowerCase()}:${atMs}:${metadata}`
  const text = form === 'newer' ? newer : newer.toLowerCase()
  return {
    'x-identity-auth-chain-2': link('ECDSA_SIGNED_ENTITY', text, signText(text, key)),
    'x-identity-timestamp': String(atMs),
    'x-identity-metadata': metadata,
  }
}

function link(type: string, payload: string, signature: string): string {
  return JSON.stringify({ type, payload, signature })
}
