import type { Verdict } from '@landpass/client/tokens'
import type { ComponentChildren } from 'preact'
import { askLogEntry, askProofs, type ShownToken } from '../api/tokens.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatDateTime } from '../texts/format.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { Failure, Loading } from '../ui/notice.tsx'
import type { CheckedToken } from './check-token.ts'
import { useLoaded } from './use-loaded.ts'

/** Paths in a square of 24: fonts do not all have such signs. */
const TICK = 'M5 12.5l4.5 4.5L19 7.5'
const CROSS = 'M7 7l10 10M17 7L7 17'
const EXCLAMATION = 'M12 5v8.5M12 18v.5'

interface VerdictTexts {
  readonly heading: TextKey
  readonly explained: TextKey
  readonly sign: string
}

const TEXTS: Readonly<Record<Verdict, VerdictTexts>> = {
  genuine: { heading: 'token.genuine', explained: 'token.genuine_explained', sign: TICK },
  expired: { heading: 'token.expired', explained: 'token.expired_explained', sign: EXCLAMATION },
  revoked: { heading: 'token.revoked', explained: 'token.revoked_explained', sign: CROSS },
  'not ours': { heading: 'token.not_ours', explained: 'token.not_ours_explained', sign: CROSS },
  damaged: { heading: 'token.damaged', explained: 'token.damaged_explained', sign: CROSS },
}
/** Reasons that have a sentence of their own. */
const EXPLAINED: Readonly<Record<string, TextKey>> = {
  compromised: 'token.key_stolen',
  legacy: 'token.legacy',
}
/** One of two clocks is wrong, most often that of the reader: no reason to distrust the token. */
const FUTURE: VerdictTexts = {
  heading: 'token.future',
  explained: 'token.future_explained',
  sign: EXCLAMATION,
}

/** Checks the token in this browser, and says in one word and a sentence what came out. */
export function VerdictCard({ token }: { readonly token: ShownToken }) {
  const checking = useLoaded(token.id, (signal) => check(token, signal))
  const { data, error, retry } = checking
  if (error !== undefined) {
    return (
      <section class="verdict verdict-unknown">
        <h2>{text('token.unchecked')}</h2>
        <Failure error={error} onRetry={retry} />
      </section>
    )
  }
  if (!data) {
    return (
      <section class="verdict verdict-unknown">
        <Loading label={text('token.checking')} />
      </section>
    )
  }
  return <ShownVerdict checked={data} revoked={token.revoked} />
}

async function check(token: ShownToken, signal: AbortSignal): Promise<CheckedToken> {
  const [proofs, { checkToken }] = await Promise.all([
    askProofs(token.id, signal),
    import('./check-token.ts'), // with the code for signatures, which the first look at the page does not need
  ])
  const checked = checkToken(token, proofs, Date.now())
  if (checked.reason !== 'compromised' || !token.log) return checked
  // The public log can show that the token is older than the theft
  const log = await askLogEntry(token.log.position, signal)
  return checkToken(token, { ...proofs, log }, Date.now())
}

interface ShownVerdictProps {
  readonly checked: CheckedToken
  readonly revoked: ShownToken['revoked']
}

/** The verdict in one word and a sentence. */
export function ShownVerdict({ checked, revoked }: ShownVerdictProps) {
  const { verdict, reason, notRevokedAsOfMs: asOfMs, isGiven } = checked
  const isFuture = reason === 'future'
  const { heading, explained, sign } = isFuture ? FUTURE : TEXTS[verdict]
  return (
    <section class={`verdict verdict-${isFuture ? 'future' : verdict.replace(' ', '-')}`} role="status">
      <svg class="verdict-sign" viewBox="0 0 24 24" aria-hidden="true">
        <path d={sign} />
      </svg>
      <div>
        <h2>{text(heading)}</h2>
        {(verdict === 'genuine' || verdict === 'expired') && (
          <p>{text(isGiven ? 'token.given_explained' : 'token.explained')}</p>
        )}
        <p>{text(EXPLAINED[reason ?? ''] ?? explained)}</p>
        {revoked && <Reason {...revoked} />}
        {verdict === 'genuine' && (
          <p>
            {asOfMs === undefined
              ? text('token.revocation_unknown')
              : text('token.not_revoked', { time: formatDateTime(asOfMs) })}
          </p>
        )}
      </div>
    </section>
  )
}

function Reason({ since, reason }: { readonly since: string; readonly reason: string }): ComponentChildren {
  return (
    <>
      <p>{text('token.revoked_since', { time: formatDateTime(Date.parse(since)) })}</p>
      {reason !== '' && (
        <blockquote dir="auto">
          <p>{withoutTurns(reason)}</p>
        </blockquote>
      )}
    </>
  )
}
