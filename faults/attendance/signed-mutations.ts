import type { Random } from '@landpass/simulators/random'
import type { Call } from './calls.ts'
import type { Player, RequestToSign } from './players.ts'

/** Input of a mutation: two players, and the paths of two registered events. */
export interface Scene {
  readonly player: Player
  readonly stranger: Player
  readonly method: string
  readonly path: string
  readonly otherPath: string
  readonly body: string
  readonly nowMs: number
}

/** Changes a valid signed request into one that must be refused. */
export type Mutation = (scene: Scene, random: Random) => Call

const TIMESTAMP = 'x-identity-timestamp'
const METADATA = 'x-identity-metadata'
const LINKS = ['x-identity-auth-chain-0', 'x-identity-auth-chain-1', 'x-identity-auth-chain-2'] as const
const ALL = [TIMESTAMP, METADATA, ...LINKS]
const MINUTE = 60_000
const YEAR = 365 * 24 * 60 * MINUTE

/** A valid signed request. */
export function honest(scene: Scene, changes: Partial<RequestToSign> = {}): Call {
  const { player, method, path, body, nowMs } = scene
  const signed = { method, path, body, atMs: nowMs, ...changes }
  return {
    method,
    path,
    headers: { ...player.sign(signed), 'content-type': 'application/json' },
    ...(body === '' ? {} : { body }),
  }
}

/**
 * Every mutation changes the meaning of the request. Other spellings of the same request (letter case of hex digits,
 * blanks in JSON, the second valid signature) are valid, and are sent as replays: see {@link respelled}.
 */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'a header missing': (scene, random) => without(honest(scene), random.pick(ALL)),
  'a header empty': (scene, random) => withHeader(honest(scene), random.pick(ALL), ''),
  'a header twice': (scene, random) => {
    const call = honest(scene)
    const name = random.pick(ALL)
    return { ...call, headers: { ...call.headers, [name]: [textOf(call, name), textOf(call, name)] } }
  },
  'a header of a stranger': (scene, random) => {
    // Only links: timestamp and metadata of both players may be equal
    const foreign = honest({ ...scene, player: scene.stranger })
    const name = random.pick(LINKS)
    return withHeader(honest(scene), name, textOf(foreign, name))
  },
  'a character of a header': (scene, random) => {
    const name = random.pick(ALL)
    return editHeader(honest(scene), name, (text) => otherCharacter(text, random))
  },
  'a header cut': (scene, random) =>
    editHeader(honest(scene), random.pick(ALL), (text) => text.slice(0, random.below(text.length))),
  'no chain at all': (scene) => LINKS.reduce(without, honest(scene)),

  'a link that is no object': (scene, random) =>
    withHeader(
      honest(scene),
      random.pick(LINKS),
      random.pick([
        'null',
        '[]',
        '""',
        '7',
        'true',
        '{}',
        '[{}]',
        '{"type":null,"payload":null,"signature":null}',
      ]),
    ),
  'a field of a link missing': (scene, random) =>
    editLink(honest(scene), random.pick(LINKS), (link) => {
      const { [random.pick(['type', 'payload', 'signature'])]: _gone, ...rest } = link
      return rest
    }),
  'a field of a link of another type': (scene, random) =>
    editLink(honest(scene), random.pick(LINKS), (link) => ({
      ...link,
      [random.pick(['type', 'payload', 'signature'])]: random.pick([null, 0, [], {}, true, ['0x']]),
    })),
  'the type of a link': (scene, random) =>
    editLink(honest(scene), random.pick(LINKS), (link) => ({
      ...link,
      type: random.pick(OTHER_TYPES.filter((type) => type !== link.type)),
    })),
  'links in another order': (scene, random) => {
    const call = honest(scene)
    const order = random.pick(OTHER_ORDERS)
    return LINKS.reduce((now, name, i) => withHeader(now, name, textOf(call, LINKS[order[i]!]!)), call)
  },
  'a link too many': (scene, random) => {
    const call = honest(scene)
    return withHeader(call, 'x-identity-auth-chain-3', textOf(call, random.pick(LINKS)))
  },
  'a hole in the chain': (scene) => {
    const call = honest(scene)
    return without(withHeader(call, 'x-identity-auth-chain-3', textOf(call, LINKS[2])), LINKS[2])
  },

  'the player is a stranger': (scene) =>
    editLink(honest(scene), LINKS[0], (link) => ({ ...link, payload: scene.stranger.address })),
  'a digit of the player': (scene, random) =>
    editLink(honest(scene), LINKS[0], (link) => ({
      ...link,
      payload: otherDigit(link.payload ?? '', random),
    })),
  'an address that is none': (scene, random) =>
    editLink(honest(scene), LINKS[0], (link) => ({
      ...link,
      payload: random.pick(['', '0x', '0x0', `${link.payload}00`, 'me.eth', '0xZZ', `${link.payload} `]),
    })),
  'a text in the delegation': (scene, random) =>
    editLink(honest(scene), LINKS[1], (link) => ({
      ...link,
      payload: otherCharacter(link.payload ?? '', random),
    })),
  'a line of the delegation': (scene, random) =>
    editLink(honest(scene), LINKS[1], (link) => {
      const lines = (link.payload ?? '').split('\n')
      const at = random.below(lines.length)
      const changed = random.chance(50) ? lines.toSpliced(at, 1) : lines.toSpliced(at, 0, lines[at]!)
      return { ...link, payload: changed.join('\n') }
    }),
  'a longer delegation': (scene) =>
    editLink(honest(scene), LINKS[1], (link) => ({
      ...link,
      payload: (link.payload ?? '').replace(/Expiration: .*/, 'Expiration: 2199-12-31T00:00:00.000Z'),
    })),
  'the signed text': (scene, random) =>
    editLink(honest(scene), LINKS[2], (link) => ({
      ...link,
      payload: otherCharacter(link.payload ?? '', random),
    })),
  'a signature': (scene, random) =>
    editLink(honest(scene), random.pick([LINKS[1], LINKS[2]]), (link) => ({
      ...link,
      signature: otherSignature(link.signature ?? '', random),
    })),
  'signatures exchanged': (scene) => {
    const call = honest(scene)
    const [second, third] = [linkOf(call, LINKS[1]), linkOf(call, LINKS[2])]
    const one = editLink(call, LINKS[1], (link) => ({ ...link, signature: third.signature }))
    return editLink(one, LINKS[2], (link) => ({ ...link, signature: second.signature }))
  },

  'a timestamp that was not signed': (scene, random) =>
    editHeader(honest(scene), TIMESTAMP, (text) =>
      String(Number(text) + random.pick([-1000, -1, 1, 1000, MINUTE])),
    ),
  'a timestamp in another writing': (scene, random) =>
    editHeader(honest(scene), TIMESTAMP, (text) =>
      random.pick([
        `+${text}`,
        `-${text}`,
        `0${text}`,
        `${text}.0`,
        `${text}e0`,
        `0x${Number(text).toString(16)}`,
        'NaN',
      ]),
    ),
  'signed too long ago': (scene, random) =>
    honest(scene, { atMs: scene.nowMs - random.pick([MINUTE + 5000, 2 * MINUTE, 60 * MINUTE, YEAR]) }),
  'signed for the future': (scene, random) =>
    honest(scene, { atMs: scene.nowMs + random.pick([2 * MINUTE, 60 * MINUTE, YEAR, 100 * YEAR]) }),

  'metadata that are no object': (scene, random) =>
    withHeader(honest(scene), METADATA, random.pick(['null', '[]', '""', '1', 'x', '{', '{"signer":'])),
  'a value of the metadata': (scene, random) =>
    editMetadata(honest(scene), (metadata) => {
      const key = random.pick(Object.keys(metadata))
      return { ...metadata, [key]: random.pick(['changed', null, 1, {}]) }
    }),
  'a key of the metadata missing': (scene, random) =>
    editMetadata(honest(scene), (metadata) => {
      const { [random.pick(Object.keys(metadata))]: _gone, ...rest } = metadata
      return rest
    }),
  'a key of the metadata too many': (scene, random) =>
    editMetadata(honest(scene), (metadata) => ({ ...metadata, [`key${random.below(100)}`]: true })),
  'a key of the metadata in another letter case': (scene, random) =>
    editHeader(honest(scene, { form: random.pick(['legacy', 'newer'] as const) }), METADATA, (text) =>
      text.replace('"signer"', random.pick(['"Signer"', '"SIGNER"', '"sIgner"'])),
    ),
  'the signer in another letter case': (scene, random) =>
    editHeader(honest(scene, { form: random.pick(['legacy', 'newer'] as const) }), METADATA, (text) =>
      text.replace(
        'decentraland-kernel-scene',
        random.pick(['Decentraland-Kernel-Scene', 'DECENTRALAND-KERNEL-SCENE']),
      ),
    ),
  'signed by another part of the client': (scene, random) =>
    honest(scene, { metadata: random.pick(OTHER_SIGNERS.map((signer) => ({ signer }))) }),
  'signed without metadata of a scene': (scene, random) =>
    honest(scene, {
      form: 'newer',
      metadata: { signer: undefined, Signer: random.pick(['decentraland-kernel-scene', 'x']) },
    }),

  'signed for another method': (scene, random) =>
    honest(scene, { method: random.pick(['GET', 'PUT', 'DELETE', 'PATCH', '']) }),
  'signed for another path': (scene, random) =>
    honest(scene, {
      path: random.pick([
        scene.otherPath,
        '/',
        '',
        `${scene.path}/`,
        `/v1${scene.path}`,
        `${scene.path}?`,
        '/api/captcha',
      ]),
    }),
  'sent to another path': (scene) => ({ ...honest(scene), path: scene.otherPath }),
  'sent with another method': (scene, random) => ({
    ...honest(scene),
    method: random.pick(['PUT', 'PATCH', 'DELETE']),
  }),
  'another body': (scene, random) => ({
    ...honest({ ...scene, body: '{"captcha":"abc"}' }),
    body: random.pick([
      '{"captcha":"abd"}',
      '{"captcha":"abc"} ',
      '{}',
      `{"address":"${scene.stranger.address}"}`,
    ]),
  }),
  'the hash of another body': (scene, random) =>
    honest({ ...scene, body: '{"captcha":"abc"}' }, { metadata: { hashPayload: otherHash(random) } }),
}

/** Undefined: without a signer. */
const OTHER_SIGNERS = ['dcl:explorer', 'dcl:authoritative-server', '', 'x', null, undefined]
const OTHER_TYPES = [
  'SIGNER',
  'ECDSA_EPHEMERAL',
  'ECDSA_SIGNED_ENTITY',
  'ECDSA_EIP_1654_EPHEMERAL',
  'ECDSA_EIP_1654_SIGNED_ENTITY',
  'signer',
  'NONE',
  '',
  '__proto__',
]
const OTHER_ORDERS = [
  [0, 2, 1],
  [1, 0, 2],
  [1, 2, 0],
  [2, 0, 1],
  [2, 1, 0],
  [0, 1, 1],
  [0, 0, 2],
] as const

type Link = Readonly<Record<string, unknown>> & {
  readonly type?: string
  readonly payload?: string
  readonly signature?: string
}

/** Other spellings of a used signature: each is valid, but the request is still the same one. */
export function respelled(call: Call, random: Random): Call {
  return editLink(call, LINKS[2], (link) => ({
    ...link,
    signature: random.pick([twinOf, upperCase, lowParity])(link.signature ?? ''),
  }))
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The second valid signature for the same text: (r, n - s) with the other parity. */
function twinOf(signature: string): string {
  const s = (ORDER - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, '0')
  return `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
}

function upperCase(signature: string): string {
  return `0x${signature.slice(2).toUpperCase()}`
}

function lowParity(signature: string): string {
  return signature.slice(0, -2) + (signature.endsWith('1b') ? '00' : '01')
}

function otherSignature(signature: string, random: Random): string {
  const numbers = signature.slice(0, -2)
  return random.pick([
    () => otherDigit(numbers, random) + signature.slice(-2),
    () => numbers + (signature.endsWith('1b') ? '1c' : '1b'),
    () => numbers + random.pick(['02', '03', '1d', '1e', 'ff']),
    () => signature.slice(0, random.below(signature.length)),
    () => `${signature}00`,
    () => `0x${'00'.repeat(65)}`,
    () => `0x${'ff'.repeat(65)}`,
    () => `0x${signature.slice(66, 130)}${signature.slice(2, 66)}${signature.slice(-2)}`,
    () => signature.replace(/[\da-f]$/, 'g'),
  ])()
}

/** Replaces one hex digit after `0x` by a digit with another value. */
function otherDigit(hex: string, random: Random): string {
  const at = random.between(2, hex.length - 1)
  const old = Number.parseInt(hex[at]!, 16)
  return hex.slice(0, at) + ((old + random.between(1, 15)) % 16).toString(16) + hex.slice(at + 1)
}

/**
 * Replaces one character by one that differs in more than letter case and is no hex digit, so that an address in the
 * text never keeps its value.
 */
function otherCharacter(text: string, random: Random): string {
  const at = random.below(text.length)
  const others = [...'#$%&*?~^gkpqyz'].filter((one) => one !== text[at]?.toLowerCase())
  return text.slice(0, at) + random.pick(others) + text.slice(at + 1)
}

function otherHash(random: Random): string {
  return Array.from({ length: 64 }, () => random.below(16).toString(16)).join('')
}

function textOf(call: Call, name: string): string {
  const value = call.headers[name]
  return typeof value === 'string' ? value : ''
}

function withHeader(call: Call, name: string, value: string): Call {
  return { ...call, headers: { ...call.headers, [name]: value } }
}

function without(call: Call, name: string): Call {
  const { [name]: _gone, ...headers } = call.headers
  return { ...call, headers }
}

function editHeader(call: Call, name: string, edit: (text: string) => string): Call {
  return withHeader(call, name, edit(textOf(call, name)))
}

function linkOf(call: Call, name: string): Link {
  return JSON.parse(textOf(call, name)) as Link
}

function editLink(call: Call, name: string, edit: (link: Link) => Readonly<Record<string, unknown>>): Call {
  return withHeader(call, name, JSON.stringify(edit(linkOf(call, name))))
}

function editMetadata(
  call: Call,
  edit: (metadata: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>,
): Call {
  return editHeader(call, METADATA, (text) => JSON.stringify(edit(JSON.parse(text))))
}
