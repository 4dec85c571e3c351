import { createHash, createHmac, randomUUID } from 'node:crypto'
import type { Random } from '@landpass/simulators/random'
import type { Call } from './calls.ts'

/** An event that takes grants: its uuid here, and its secret. */
export interface GrantEvent {
  readonly uuid: string
  readonly secret: string
}

/** Input of a mutation. */
export interface GrantScene {
  readonly event: GrantEvent
  /** Another event, with a secret of its own. */
  readonly other: GrantEvent
  /** A secret of the event that has ended. */
  readonly endedSecret: string
  /** The player of the grant, and another one. */
  readonly address: string
  readonly stranger: string
  /** A nonce of the event that was used before, for another player. */
  readonly usedNonce: string
  readonly nonce: string
  readonly nowMs: number
}

/** Changes a valid grant into a request that must be refused. */
export type GrantMutation = (scene: GrantScene, random: Random) => Call

const SIGNATURE = 'landpass-signature'
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** A valid grant. */
export function honestGrant(scene: GrantScene, fields: object = {}): Call {
  return signedGrant(scene, JSON.stringify({ ...fieldsOf(scene), ...fields }))
}

/** A request with this body, signed as the server of the event does. */
export function signedGrant({ event }: GrantScene, body: string): Call {
  return grantCall(event.uuid, body, hmacOf(event.secret, `${event.uuid}\n${body}`))
}

/** Every mutation changes what is signed, or says what no grant may say. */
export const GRANT_MUTATIONS: Readonly<Record<string, GrantMutation>> = {
  'no signature': (scene) => ({ ...honestGrant(scene), headers: {} }),
  'an empty signature': (scene) => withSignature(scene, () => ''),
  'a digit of the signature': (scene, random) => withSignature(scene, (text) => otherDigit(text, random)),
  'a signature cut': (scene, random) => withSignature(scene, (text) => text.slice(0, random.below(64))),
  'a longer signature': (scene, random) =>
    withSignature(scene, (text) => text + random.pick(['0', '00', text])),
  'a signature in another writing': (scene, random) =>
    withSignature(scene, (text) =>
      random.pick([`0x${text}`, `sha256=${text}`, Buffer.from(text, 'hex').toString('base64')]),
    ),
  'a signature of zeros': (scene, random) => withSignature(scene, () => random.pick(['0', 'f']).repeat(64)),
  'the signature twice': (scene) => {
    const call = honestGrant(scene)
    const signature = signatureOf(call)
    return { ...call, headers: { [SIGNATURE]: [signature, signature] } }
  },
  'the signature of another grant': (scene) =>
    withSignature(scene, () => signatureOf(honestGrant(scene, { nonce: `${scene.nonce}-2` }))),

  'the secret of another event': (scene) => signedWith(scene, scene.other.secret),
  'a secret that has ended': (scene) => signedWith(scene, scene.endedSecret),
  'a character of the secret': (scene, random) =>
    signedWith(scene, otherCharacter(scene.event.secret, random)),
  'a part of the secret': (scene, random) =>
    signedWith(
      scene,
      random.pick([
        scene.event.secret.slice(4),
        scene.event.secret.slice(0, -1),
        'lps_',
        '',
        scene.event.uuid,
      ]),
    ),
  'the bytes that the secret spells': (scene) =>
    signedWith(scene, Buffer.from(scene.event.secret.slice(4), 'base64url')),
  'a hash without a key': (scene) => {
    const { body = '' } = honestGrant(scene)
    const text = `${scene.event.secret}${scene.event.uuid}\n${body}`
    return grantCall(scene.event.uuid, body, createHash('sha256').update(text).digest('hex'))
  },
  'another hash': (scene, random) => {
    const { body = '' } = honestGrant(scene)
    const hash = createHmac(random.pick(['sha1', 'sha512', 'md5']), scene.event.secret)
    return grantCall(
      scene.event.uuid,
      body,
      hash.update(`${scene.event.uuid}\n${body}`).digest('hex').slice(0, 64),
    )
  },

  'the body signed alone': (scene) => signedText(scene, (_uuid, body) => body),
  'the uuid signed alone': (scene) => signedText(scene, (uuid) => `${uuid}\n`),
  'another separator': (scene, random) =>
    signedText(scene, (uuid, body) => uuid + random.pick(['', ' ', '\r\n', ':', '\n\n']) + body),
  'the uuid in another form': (scene, random) =>
    signedText(
      scene,
      (uuid, body) =>
        `${random.pick([uuid.toUpperCase(), uuid.replaceAll('-', ''), `/grants/${uuid}`])}\n${body}`,
    ),
  'signed for another event': (scene) => signedText(scene, (_uuid, body) => `${scene.other.uuid}\n${body}`),
  'sent to another event': (scene) => ({ ...honestGrant(scene), path: `/grants/${scene.other.uuid}` }),
  'sent to an unknown event': (scene) => ({ ...honestGrant(scene), path: `/grants/${randomUUID()}` }),
  'sent to a path that is none': (scene, random) => ({
    ...honestGrant(scene),
    path: random.pick([
      `/grants/${scene.event.uuid}0`,
      `/grants/${scene.event.uuid}/x`,
      '/grants/1',
      '/grants/',
    ]),
  }),
  'sent with another method': (scene, random) => ({
    ...honestGrant(scene),
    method: random.pick(['PUT', 'PATCH', 'DELETE']),
  }),

  'another player': (scene) => withBody(scene, (body) => body.replace(scene.address, scene.stranger)),
  'the player in other letters': (scene) =>
    withBody(scene, (body) => body.replace(scene.address, `0X${scene.address.slice(2)}`)),
  'another nonce': (scene) => withBody(scene, (body) => body.replace(scene.nonce, `${scene.nonce}x`)),
  'a later time': (scene) =>
    withBody(scene, (body) => body.replace(expiresOf(scene), new Date(scene.nowMs + DAY).toISOString())),
  'a character of the body': (scene, random) => withBody(scene, (body) => otherCharacter(body, random)),
  'a body cut': (scene, random) => withBody(scene, (body) => body.slice(0, random.below(body.length))),
  'a blank more': (scene, random) =>
    withBody(scene, (body) => random.pick([`${body} `, ` ${body}`, body.replace(',', ', '), `${body}\n`])),
  'a field more': (scene) => withBody(scene, (body) => body.replace('}', ',"more":1}')),
  'a field twice': (scene) => withBody(scene, (body) => body.replace('}', `,"address":"${scene.stranger}"}`)),
  'fields in another order': (scene) =>
    withBody(scene, (body) => {
      const { address, nonce, expires } = JSON.parse(body)
      return JSON.stringify({ expires, nonce, address })
    }),

  'signed, but the time is over': (scene, random) =>
    honestGrant(scene, {
      expires: new Date(scene.nowMs - random.pick([MINUTE, DAY, 365 * DAY])).toISOString(),
    }),
  'signed, but for too long': (scene, random) =>
    honestGrant(scene, {
      expires: new Date(scene.nowMs + random.pick([8, 30, 365]) * DAY).toISOString(),
    }),
  'signed, but the time is none': (scene, random) =>
    honestGrant(scene, {
      expires: random.pick([
        ...['', 'tomorrow', '2027-03-05', '2027-02-30T18:00:00Z', scene.nowMs, String(scene.nowMs), null],
        ...[{}, []],
      ]),
    }),
  'signed, but the player is none': (scene, random) =>
    honestGrant(scene, {
      address: random.pick([
        '',
        '0x',
        'me.eth',
        `${scene.address}0`,
        scene.address.slice(0, -1),
        1,
        null,
        [scene.address],
      ]),
    }),
  'signed, but the nonce is none': (scene, random) =>
    honestGrant(scene, {
      nonce: random.pick(['', '\0', 'ß'.repeat(65), 'x'.repeat(129), 1, null, ['a']]),
    }),
  'signed, but a field is missing': (scene, random) => {
    const { [random.pick(['address', 'nonce', 'expires'] as const)]: _gone, ...rest } = fieldsOf(scene)
    return signedGrant(scene, JSON.stringify(rest))
  },
  'signed, but no object': (scene, random) =>
    signedGrant(scene, random.pick(['null', '[]', '""', '1', '{', '', '[{}]'])),
  'signed, but too long': (scene) => honestGrant(scene, { more: 'x'.repeat(1024) }),
  'signed, but the nonce is used': (scene) => honestGrant(scene, { nonce: scene.usedNonce }),
}

function fieldsOf(scene: GrantScene) {
  return { address: scene.address, nonce: scene.nonce, expires: expiresOf(scene) }
}

function expiresOf({ nowMs }: GrantScene): string {
  return new Date(nowMs + 60 * MINUTE).toISOString()
}

function grantCall(uuid: string, body: string, signature: string): Call {
  return {
    method: 'POST',
    path: `/grants/${uuid}`,
    headers: { 'content-type': 'application/json', [SIGNATURE]: signature },
    body,
  }
}

function hmacOf(secret: string | Buffer, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}

function signatureOf({ headers }: Call): string {
  return String(headers[SIGNATURE])
}

function withSignature(scene: GrantScene, edit: (text: string) => string): Call {
  const call = honestGrant(scene)
  return { ...call, headers: { ...call.headers, [SIGNATURE]: edit(signatureOf(call)) } }
}

function signedWith(scene: GrantScene, secret: string | Buffer): Call {
  const { body = '' } = honestGrant(scene)
  return grantCall(scene.event.uuid, body, hmacOf(secret, `${scene.event.uuid}\n${body}`))
}

function signedText(scene: GrantScene, textOf: (uuid: string, body: string) => string): Call {
  const { body = '' } = honestGrant(scene)
  return grantCall(scene.event.uuid, body, hmacOf(scene.event.secret, textOf(scene.event.uuid, body)))
}

/** Changes the body after it was signed. */
function withBody(scene: GrantScene, edit: (body: string) => string): Call {
  const call = honestGrant(scene)
  return { ...call, body: edit(call.body ?? '') }
}

function otherDigit(hex: string, random: Random): string {
  const at = random.below(hex.length)
  const digit = (Number.parseInt(hex[at]!, 16) + random.between(1, 15)) % 16
  return hex.slice(0, at) + digit.toString(16) + hex.slice(at + 1)
}

function otherCharacter(text: string, random: Random): string {
  const at = random.below(text.length)
  const others = [...'#$%&*?~^gkpqyz'].filter((one) => one !== text[at])
  return text.slice(0, at) + random.pick(others) + text.slice(at + 1)
}
