import { expect, test } from 'vitest'
import { gateJson } from './token-json.ts'

const UID = Buffer.alloc(32, 1)
const POAPS = { count: 2, sinceS: 100 }

test('the answer of a gate counts the tokens of both issuers, and is about the oldest one that counts', () => {
  const own = (timeS: number, revokedAtS: number | null = null) => ({ timeS, revokedAtS, uid: UID })
  const uid = `0x${'01'.repeat(32)}`

  expect(gateJson(undefined)).toEqual({ attended: false, count: 0 })
  expect(gateJson(undefined, POAPS)).toEqual({
    ...{ attended: true, count: 2, since: 100, issuer: 'poap', revoked: false },
  })
  expect(gateJson({ ...own(99), count: 3 }, POAPS)).toEqual({
    ...{ attended: true, count: 5, since: 99, uid, revoked: false },
  })
  expect(gateJson({ ...own(101), count: 3 }, POAPS)).toMatchObject({ count: 5, since: 100, issuer: 'poap' })
  // A revoked token does not count, however old it is
  expect(gateJson({ ...own(99, 120), count: 0 }, POAPS)).toMatchObject({
    count: 2,
    since: 100,
    issuer: 'poap',
  })
  expect(gateJson({ ...own(99, 120), count: 0 })).toEqual({
    ...{ attended: false, count: 0, since: 99, uid, revoked: true },
  })
})
