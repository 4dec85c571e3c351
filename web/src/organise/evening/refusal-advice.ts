import { type TextKey, text } from '../../texts/texts.ts'

/** What the organiser can do about refused claims, by error code. */
const ADVICE: Readonly<Record<string, TextKey>> = {
  already_claimed: 'evening.advice.nothing',
  signature_used: 'evening.advice.nothing',
  not_at_event: 'evening.advice.place',
  no_codes_left: 'evening.advice.tokens',
  no_codes_loaded: 'evening.advice.tokens',
  event_disabled: 'evening.advice.rules',
  event_cancelled: 'organise.next.event_cancelled',
  event_not_open: 'evening.advice.rules',
  event_closed: 'evening.advice.rules',
  event_expired: 'evening.advice.rules',
  preview_realm: 'evening.advice.preview',
  presence_unavailable: 'evening.advice.presence',
  captcha_required: 'evening.advice.captcha',
  captcha_not_found: 'evening.advice.captcha',
  wrong_captcha: 'evening.advice.captcha',
  not_signed: 'evening.advice.booth',
  wrong_signer: 'evening.advice.booth',
  bad_signature: 'evening.advice.booth',
  proof_of_work_required: 'evening.advice.booth',
  signature_expired: 'evening.advice.clock',
  contract_wallet_unsupported: 'evening.advice.wallet',
  wallet_check_unavailable: 'evening.advice.walletNode',
  claim_refused: 'evening.advice.issuer',
  event_held: 'evening.advice.issuer',
  event_refused: 'organise.next.event_refused',
  issuer_unavailable: 'evening.advice.issuer',
  issuer_refused: 'evening.advice.issuer',
  too_many_requests: 'evening.advice.nothing',
  player_blocked: 'evening.advice.blocked',
  guest_refused: 'evening.advice.guests',
  bad_grant: 'evening.advice.grants',
  nonce_used: 'evening.advice.grants',
  grant_required: 'evening.advice.grants',
}

/** What to do about claims that are refused with a code; of codes that are not known here, to tell the operator. */
export function adviceText(code: string): string {
  return text(ADVICE[code] ?? 'evening.advice.other')
}
