import { attendance, type GrantSecret } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { GrantCounts } from '../../api/controls.ts'
import { formatDateTime, formatNumber } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { replaceFocus, useReplacedFocus } from '../../ui/replaced-focus.ts'
import { ActionFault } from './action-fault.tsx'
import { sendForEvent, withReport } from './controls-session.ts'
import { useAction } from './use-action.ts'

/** How long the secret before stays valid where the organiser wants that. */
const KEEP_PREVIOUS_S = 3_600

/** Grants of the organiser's own server: how many there are, and a secret for that server. */
export function Grants({ grants }: { readonly grants: GrantCounts }) {
  const action = useAction()
  const made = useSignal<GrantSecret | undefined>(undefined)
  const keepsPrevious = useSignal(true)
  /** A secret that others know ends at once, with the grants that they may have signed. */
  const isKnown = useSignal(false)
  const makeButton = useRef<HTMLButtonElement>(null)
  const wasKept = useReplacedFocus(made.value, () => makeButton.current)
  const { open, used, expired } = grants
  const make = async () => {
    const [isKept, withdrawOpen] = [keepsPrevious.value && !isKnown.value, isKnown.value]
    await withReport(async () => {
      // Shown at once, whatever becomes of the report: the server cannot show it again
      made.value = await sendForEvent((id, credentials) =>
        attendance.makeGrantSecret(id, credentials, {
          keepPreviousS: isKept ? KEEP_PREVIOUS_S : 0,
          ...(withdrawOpen && { withdrawOpen }),
        }),
      )
    })
    keepsPrevious.value = true
    isKnown.value = false
  }
  return (
    <section class="card">
      <h2>{text('controls.grants.heading')}</h2>
      <p>{text('controls.grants.explained')}</p>
      <details>
        <summary>{text('controls.grants.fold', { count: open })}</summary>
        <dl class="facts">
          <dt>{text('controls.grants.open')}</dt>
          <dd>{formatNumber(open)}</dd>
          <dt>{text('controls.grants.used')}</dt>
          <dd>{formatNumber(used)}</dd>
          <dt>{text('controls.grants.expired')}</dt>
          <dd>{formatNumber(expired)}</dd>
        </dl>
        {made.value ? (
          <MadeSecret
            made={made.value}
            onKept={() => {
              wasKept.current = true
              made.value = undefined
            }}
          />
        ) : (
          <>
            <label class="rule">
              <input
                type="checkbox"
                checked={keepsPrevious.value && !isKnown.value}
                disabled={isKnown.value}
                aria-describedby="grants-ends"
                onChange={({ currentTarget }) => {
                  keepsPrevious.value = currentTarget.checked
                }}
              />
              {text('controls.grants.keep_previous')}
            </label>
            <p class="hint" id="grants-ends">
              {text('controls.grants.ends_at_once')}
            </p>
            <label class="rule">
              <input
                type="checkbox"
                checked={isKnown.value}
                onChange={({ currentTarget }) => {
                  isKnown.value = currentTarget.checked
                }}
              />
              {text('controls.grants.known')}
            </label>
            <button
              type="button"
              ref={makeButton}
              aria-disabled={action.isBusy.value}
              aria-describedby="grants-fault"
              onClick={() => void action.run(make)}
            >
              {text('controls.grants.make')}
            </button>
          </>
        )}
        <ActionFault id="grants-fault" action={action} />
      </details>
    </section>
  )
}

/** Shown once: the server cannot show it again. */
function MadeSecret({ made, onKept }: { readonly made: GrantSecret; onKept(): void }) {
  const box = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => replaceFocus(box.current?.querySelector('button')), [])
  const ends = made.previous_ends_at
  return (
    <div ref={box}>
      <Notice kind="info">
        <p>{text('controls.grants.secret_explained')}</p>
        <p class="row uuid">
          <code>{made.secret}</code>
          <CopyButton value={made.secret} label={text('controls.grants.secret')} />
        </p>
        {ends !== null && (
          <p>{text('controls.grants.previous_ends', { time: formatDateTime(Date.parse(ends)) })}</p>
        )}
        {made.withdrawn > 0 && <p>{text('controls.grants.withdrawn', { count: made.withdrawn })}</p>}
        <button type="button" onClick={onKept}>
          {text('controls.grants.kept')}
        </button>
      </Notice>
    </div>
  )
}
