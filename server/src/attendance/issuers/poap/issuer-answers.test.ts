import { expect, test } from 'vitest'
import type { OutboundAnswer } from '../../../outbound.ts'
import { IssuerError } from '../issuer.ts'
import {
  readClaimAnswer,
  readCodeList,
  readEventAnswer,
  readMintAnswer,
  readVerdict,
} from './issuer-answers.ts'

const CODE = 'k3v9zq'
const PLAYER = '0x00000000000000000000000000000000000000aa'
const REQUEST = { code: CODE, address: PLAYER }
const HTML = { status: 0, json: undefined, retryAfterMs: undefined }

test.each([
  [400, 'You already minted a POAP for this drop.', 'player_has_one'],
  [400, 'Collector already claimed a code for this Event', 'player_has_one'],
  [400, 'Address already claimed a code for this event', 'player_has_one'],
  [400, 'Address already has this POAP token', 'player_has_one'],
  [400, 'Email already claimed a code for this event', 'player_has_one'],
  [400, 'QR Claim already claimed', 'code_used'],
  [400, 'QR is already Claimed', 'code_used'],
  [400, 'QR Claim expired', 'expired'],
  [400, 'EVENT_EXPIRED', 'expired'],
  [400, 'Address is not valid', 'bad_address'],
  [404, 'QR Claim not found', 'no_such_code'],
  [404, 'Qr Claim not found', 'no_such_code'],
  [400, 'QR Claim not found', 'no_such_code'],
  [404, 'Invalid secret', 'rejected'],
  [400, 'INVALID_SECRET', 'rejected'],
  [404, 'Invalid Event', 'rejected'],
  [400, 'already claimed', 'rejected'],
  [400, 'Some unknown text', 'rejected'],
  [403, 'You already minted a POAP for this drop.', 'player_has_one'],
  [401, 'INVALID_CREDENTIALS', 'refused'],
  [401, 'UNAUTHORIZED', 'refused'],
  [403, 'FORBIDDEN', 'refused'],
  [400, 'INVALID_CREDENTIALS', 'refused'],
  [400, 'LIMIT_EXCEEDED', 'busy'],
  [429, 'Slow down', 'busy'],
  [500, 'There was a problem in token mint', 'unavailable'],
  [500, 'QR Claim is not assigned to an event', 'unavailable'],
  [500, 'QR Claim already claimed', 'unavailable'],
  [503, 'Service Unavailable', 'unavailable'],
  [408, 'Request Timeout', 'unavailable'],
  [404, 'Route POST:/actions/claim-qr not found', 'unavailable'],
])('a mint answered with %i "%s" is %s', (status, message, expected) => {
  const answers = [message, message.toUpperCase(), message.toLowerCase()].map((text) =>
    outcomeOf(() => readMintAnswer(refusal(status, text), REQUEST)),
  )

  expect(answers).toEqual([expected, expected, expected])
})

test.each([
  [400, 'rejected'],
  [403, 'refused'],
  [404, 'rejected'],
  [429, 'busy'],
  [502, 'unavailable'],
])('a mint answered with an HTML page of status %i is %s', (status, expected) => {
  expect(outcomeOf(() => readMintAnswer({ ...HTML, status }, REQUEST))).toBe(expected)
})

test('the words are also found in other fields of an error', () => {
  const body = { statusCode: 400, error: 'EVENT_EXPIRED', message: ['Sorry', 7] }

  expect(readMintAnswer(answer(400, body), REQUEST)).toBe('expired')
})

test('a mint is accepted when the answer names the code and the player of the request', () => {
  expect(readMintAnswer(answer(200, { qr_hash: CODE, beneficiary: PLAYER.toUpperCase() }), REQUEST)).toBe(
    'accepted',
  )
  expect(readMintAnswer(answer(201, { qr_hash: CODE.toUpperCase(), claimed: true }), REQUEST)).toBe(
    'accepted',
  )
})

test.each([
  ['another code', { qr_hash: 'zzzzzz', beneficiary: PLAYER }],
  ['another player', { qr_hash: CODE, beneficiary: `0x${'b'.repeat(40)}` }],
  ['no code', { id: 1 }],
  ['a code that is still free', { qr_hash: CODE, claimed: false }],
  ['a list', []],
  ['a page', undefined],
])('a mint answered with 200 and %s is unavailable', (_what, body) => {
  expect(outcomeOf(() => readMintAnswer(answer(200, body), REQUEST))).toBe('unavailable')
})

test.each([
  [200, { valid: true }, true],
  [200, { valid: false }, false],
  [200, { valid: 'true' }, 'unavailable'],
  [200, undefined, 'unavailable'],
  [404, { message: 'Invalid Event' }, false],
  [400, { message: 'INVALID_SECRET_CODE' }, false],
  [403, { error: 'Forbidden', message: 'INVALID_SECRET_CODE' }, false],
  [400, { message: 'SECRET_CODE_MISSING' }, false],
  [500, { message: 'Incorrect Edit Code' }, false],
  [400, { message: 'body/secret_code must match pattern "^[0-9]{6}$"' }, false],
  [401, { message: 'UNAUTHORIZED' }, 'refused'],
  [403, { message: 'FORBIDDEN' }, 'refused'],
  [403, { message: 'Something new' }, 'refused'],
  [403, undefined, 'refused'],
  [400, { message: 'LIMIT_EXCEEDED' }, 'busy'],
  [429, undefined, 'busy'],
  [404, undefined, 'unavailable'],
  [404, { message: 'Route POST:/event/validate not found' }, 'unavailable'],
  [500, { message: 'Oops' }, 'unavailable'],
])('an edit code judged with %i %j: %s', (status, body, expected) => {
  expect(outcomeOf(() => readVerdict(answer(status, body)))).toBe(expected)
})

test.each([
  [200, [], []],
  [400, { message: 'The event is waiting for approval' }, []],
  [403, { message: 'INVALID_SECRET_CODE' }, []],
  [500, { message: 'Incorrect Edit Code' }, []],
  [404, { message: 'Invalid Event' }, []],
  [200, {}, 'unavailable'],
  [200, undefined, 'unavailable'],
  [401, { message: 'INVALID_CREDENTIALS' }, 'refused'],
  [429, undefined, 'busy'],
  [500, undefined, 'unavailable'],
])('a list of codes answered with %i %j is %j', (status, body, expected) => {
  expect(outcomeOf(() => readCodeList(answer(status, body)))).toEqual(expected)
})

test('a list of codes keeps valid codes, each once, in their letter case', () => {
  const list = [
    { qr_hash: 'k3v9zq', claimed: false },
    { qr_hash: 'K3V9ZQ', claimed: true },
    { qr_hash: 'aaaaaa', claimed: true },
    { qr_hash: 'aaaaaa', claimed: false },
    { qr_hash: 'bbbbbb' },
    { qr_hash: 7, claimed: false },
    { qr_hash: '', claimed: false },
    { qr_hash: 'a b', claimed: false },
    { qr_hash: 'x'.repeat(65), claimed: false },
    { claimed: false },
    null,
    'k3v9zq',
  ]

  expect(readCodeList(answer(200, list))).toEqual([
    { code: 'k3v9zq', isClaimed: false },
    { code: 'K3V9ZQ', isClaimed: true },
    { code: 'aaaaaa', isClaimed: true },
    { code: 'bbbbbb', isClaimed: false },
  ])
})

test('a claimed code has its beneficiary, in lower case, and the status of the transaction', () => {
  const hash = `0x${'AB'.repeat(32)}`
  const body = {
    qr_hash: CODE,
    claimed: true,
    beneficiary: PLAYER.toUpperCase(),
    secret: 's3',
    tx_status: 'passed',
    tx_hash: hash,
  }

  expect(readClaimAnswer(answer(200, body), CODE)).toEqual({
    isClaimed: true,
    beneficiary: PLAYER,
    isActive: true,
    secret: 's3',
    txStatus: 'passed',
    txHash: hash.toLowerCase(),
  })
})

test('for a free code the field claimed is enough', () => {
  const free = {
    isClaimed: false,
    beneficiary: undefined,
    isActive: true,
    secret: '',
    txStatus: '',
    txHash: undefined,
  }

  expect(readClaimAnswer(answer(200, { qr_hash: CODE, claimed: false }), CODE)).toEqual(free)
  const strange = {
    qr_hash: CODE,
    claimed: false,
    beneficiary: '',
    tx_hash: '0xabc',
    tx_status: 'queued',
    secret: 7,
    is_active: null,
  }
  expect(readClaimAnswer(answer(200, strange), CODE)).toEqual(free)
})

test.each([
  [404, { message: 'Qr Claim not found' }, undefined],
  [400, { message: 'QR Claim not found' }, undefined],
  [400, { message: 'Some other words' }, 'unavailable'],
  [404, { message: 'Some other words' }, undefined],
  [404, undefined, 'unavailable'],
  [404, { message: 'Route GET:/actions/claim-qr not found' }, 'unavailable'],
  [400, { message: 'QR Claim expired' }, 'unavailable'],
  [400, { message: 'LIMIT_EXCEEDED' }, 'busy'],
  [403, { message: 'FORBIDDEN' }, 'refused'],
  [500, { message: 'QR Claim not found' }, 'unavailable'],
  [200, { qr_hash: 'zzzzzz', claimed: true }, 'unavailable'],
  [200, { qr_hash: CODE, claimed: 'no' }, 'unavailable'],
  [200, { claimed: false }, 'unavailable'],
  [200, undefined, 'unavailable'],
])('a code read with %i %j is %s', (status, body, expected) => {
  expect(outcomeOf(() => readClaimAnswer(answer(status, body), CODE))).toBe(expected)
})

test.each([
  [200, { id: 7, name: 'Opening' }, { id: 7, name: 'Opening', record: { id: 7, name: 'Opening' } }],
  [200, { id: 8, name: 'Another' }, 'unavailable'],
  [200, { id: '7', name: 'Opening' }, 'unavailable'],
  [200, { id: 7 }, 'unavailable'],
  [200, undefined, 'unavailable'],
  [404, { message: 'Invalid Event' }, undefined],
  [400, { message: 'params/id must be <= 999999' }, undefined],
  [404, undefined, 'unavailable'],
  [403, undefined, 'refused'],
  [500, { message: 'Invalid Event' }, 'unavailable'],
])('an event answered with %i %j is %j', (status, body, expected) => {
  expect(outcomeOf(() => readEventAnswer(answer(status, body), 7))).toEqual(expected)
})

function answer(status: number, json: unknown): OutboundAnswer {
  return { status, json, retryAfterMs: undefined }
}

function refusal(statusCode: number, message: string): OutboundAnswer {
  return answer(statusCode, { statusCode, error: 'Some phrase', message })
}

function outcomeOf<T>(read: () => T): T | string {
  try {
    return read()
  } catch (error) {
    if (error instanceof IssuerError) return error.kind
    throw error
  }
}
