import type { ErrorCode } from '../../errors.ts'

/** What a request can be refused with because of its signature. */
export const SIGNATURE_ERRORS = [
  'not_signed',
  'bad_signature',
  'signature_expired',
  'signature_used',
  'wrong_signer',
  'contract_wallet_unsupported',
  'wallet_check_unavailable',
] as const satisfies readonly ErrorCode[]
