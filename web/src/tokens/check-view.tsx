import type { Attendance, Verification } from '@landpass/client/tokens'
import { useSignal } from '@preact/signals'
import { askLists, tokenAddress } from '../api/tokens.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatDateTime } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { pageAddress } from '../ui/link-preferences.ts'
import { Failure, Loading, Notice } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import type { CheckedPackage } from './check-token.ts'
import { Fact } from './token-view.tsx'
import { useLoaded } from './use-loaded.ts'
import { ShownVerdict } from './verdict-card.tsx'

/** More than any token, or link to one, has. */
const MAX_CHARS = 65_536

/** Checks a token that the reader brings: a link of the public explorer, or the file that a token's page offers. */
export function CheckView() {
  usePageTitle(text('check.title'))
  const typed = useSignal('')
  // The explorer's link works with the address of this page in place of the explorer's
  const given = useSignal(location.hash.startsWith('#attestation=') ? location.hash : '')
  return (
    <>
      <h1>{text('check.title')}</h1>
      <form
        class="card"
        onSubmit={(event) => {
          event.preventDefault()
          given.value = typed.value.trim()
        }}
      >
        <div class="field">
          <label for="token-to-check">{text('check.field')}</label>
          <p class="hint" id="token-to-check-hint">
            {text('check.hint')}
          </p>
          <textarea
            id="token-to-check"
            rows={5}
            maxLength={MAX_CHARS}
            autocomplete="off"
            spellcheck={false}
            required
            aria-describedby="token-to-check-hint"
            value={typed.value}
            onInput={({ currentTarget }) => {
              typed.value = currentTarget.value
            }}
          />
        </div>
        <button type="submit" class="primary">
          {text('check.action')}
        </button>
      </form>
      {given.value !== '' && <Result key={given.value} given={given.value} />}
    </>
  )
}

function Result({ given }: { readonly given: string }) {
  const { data, error, retry } = useLoaded(given, (signal) => check(given, signal))
  if (error !== undefined) return <Failure error={error} onRetry={retry} />
  if (!data) return <Loading label={text('token.checking')} />
  const { verification, notRevokedAsOfMs, revocation, id, isGiven } = data
  const { verdict, reason, signed, attendance } = verification
  if (reason === 'package')
    return (
      <Notice kind="error">
        <p>{text('check.unreadable')}</p>
      </Notice>
    )
  const revoked = revocation ? { ...revocation, since: timeOf(revocation.since) } : null
  return (
    <>
      <ShownVerdict checked={{ verdict, reason, notRevokedAsOfMs, isGiven }} revoked={revoked} />
      {signed && attendance && verdict !== 'damaged' && verdict !== 'not ours' && (
        <Said signed={signed} attendance={attendance} id={id} isGiven={isGiven} />
      )}
    </>
  )
}

interface SaidProps {
  readonly signed: NonNullable<Verification['signed']>
  readonly attendance: Attendance
  readonly id: string | undefined
  readonly isGiven: boolean
}

/** What a token says whose signature is right. */
function Said({ signed, attendance, id, isGiven }: SaidProps) {
  const { eventName, eventLocation, checkInTime } = attendance
  return (
    <section class="card">
      <h2 dir="auto">{withoutTurns(eventName)}</h2>
      <dl class="token-facts">
        <Fact name={text('token.where')}>{isGiven ? text('token.given') : withoutTurns(eventLocation)}</Fact>
        <Fact name={text(isGiven ? 'token.given_when' : 'token.when')}>
          {formatDateTime(Number(checkInTime) * 1000)}
        </Fact>
        <Fact name={text('token.holder')}>
          <code>{signed.attestation.recipient}</code>
        </Fact>
        <Fact name={text('token.issuer')}>
          <code>{signed.signer}</code>
        </Fact>
      </dl>
      {id !== undefined && (
        <p>
          <a href={pageAddress(tokenAddress(id))}>{text('check.page')}</a>
        </p>
      )}
    </section>
  )
}

async function check(given: string, signal: AbortSignal): Promise<CheckedPackage> {
  const [lists, { checkPackage, readBroughtToken }] = await Promise.all([
    askLists(signal),
    import('./check-token.ts'), // with the code for signatures, which the first look at the page does not need
  ])
  return checkPackage({ ...lists, attestation: await readBroughtToken(given) }, Date.now())
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
