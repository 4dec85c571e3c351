import type { CodeAtIssuer } from '../../../src/attendance/issuers/issuer.ts'

/** What the issuer says of a code that nobody has used. */
export const FREE_CODE: CodeAtIssuer = {
  isClaimed: false,
  beneficiary: undefined,
  isActive: true,
  secret: '',
  txStatus: '',
  txHash: undefined,
}
