import { expect } from 'vitest'
import type { CodeAtIssuer, Issuer } from '../../../src/attendance/issuers/issuer.ts'

/** What the issuer says of a code that nobody has used. */
export const FREE_CODE: CodeAtIssuer = {
  isClaimed: false,
  beneficiary: undefined,
  isActive: true,
  secret: '',
  txStatus: '',
  txHash: undefined,
}

/** Adds to an issuer of codes that it signs no token. */
export function withoutSigning<Codes extends Pick<Issuer, 'readCode' | 'mint'>>(issuer: Codes) {
  return Object.assign(issuer, { sign: () => expect.fail('a token was to be signed') })
}
