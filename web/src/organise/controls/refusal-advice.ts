import { type TextKey, text } from '../../texts/texts.ts'

/** What the organiser can do about refused claims, by error code. */
const ADVICE: Readonly<Record<string, TextKey>> = {
  already_claimed: 'controls.advice.nothing',
  signature_used: 'controls.advice.nothing',
  not_at_event: 'controls.advice.place',
  no_codes_left: 'controls.advice.tokens',
  no_codes_loaded: 'controls.advice.tokens',
  event_disabled: 'controls.advice.rules',
  event_cancelled: 'organise.next.event_cancelled',
  event_not_open: 'controls.advice.rules',
  event_closed: 'controls.advice.rules',
  event_expired: 'controls.advice.rules',
  preview_realm: 'controls.advice.preview',
  presence_unavailable: 'controls.advice.presence',
  captcha_required: 'controls.advice.captcha',
  captcha_not_found: 'controls.advice.captcha',
  wrong_captcha: 'controls.advice.captcha',
  not_signed: 'controls.advice.booth',
  wrong_signer: 'controls.advice.booth',
  bad_signature: 'controls.advice.booth',
  proof_of_work_required: 'controls.advice.booth',
  signature_expired: 'controls.advice.clock',
  contract_wallet_unsupported: 'controls.advice.wallet',
  wallet_check_unavailable: 'controls.advice.walletNode',
  claim_refused: 'controls.advice.issuer',
  event_held: 'controls.advice.issuer',
  event_refused: 'organise.next.event_refused',
  issuer_unavailable: 'controls.advice.issuer',
  issuer_refused: 'controls.advice.issuer',
  too_many_requests: 'controls.advice.nothing',
  player_blocked: 'controls.advice.blocked',
  guest_refused: 'controls.advice.guests',
  bad_grant: 'controls.advice.grants',
  nonce_used: 'controls.advice.grants',
  grant_required: 'controls.advice.grants',
}

/** What to do about claims that are refused with a code; of codes that are not known here, to tell the operator. */
export function adviceText(code: string): string {
  return text(ADVICE[code] ?? 'controls.advice.other')
}
