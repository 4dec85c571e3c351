import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { isolated } from '../texts/bidi.ts'
import { formatDateTimeThere } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { useFirstFocus } from '../ui/focus.ts'
import { Notice } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { AccountField } from './account-field.tsx'
import { KeepCode } from './keep-code.tsx'
import { keepCode } from './kept-codes.ts'
import type { MadeEventAnswer } from './made-state.ts'
import { leaveMade } from './make-state.ts'
import { isBeforeOpening } from './state-words.ts'

/** The edit code of a new event, shown this once: the organiser leaves when it is kept. */
export function MadeEvent({ made }: { readonly made: MadeEventAnswer }) {
  const { event, edit_code: code, approval } = made
  const isKept = useSignal(false)
  const isMissed = useSignal(false)
  const isStored = useSignal(false)
  const box = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => {
    // For password managers. Set here, so that it never becomes part of the rendered HTML
    if (password.current) password.current.value = code
  }, [code])
  const opensAt = event.distribution_start_date
  const title = text('organise.made.heading', { name: isolated(event.name) })
  usePageTitle(title)
  const heading = useFirstFocus<HTMLHeadingElement>()
  useLayoutEffect(warnBeforeLeaving, [])
  const leave = () => {
    isMissed.value = !isKept.value
    if (isKept.value) {
      if (isStored.value) keepCode(event.uuid, code)
      leaveMade(made)
    } else box.current?.focus()
  }
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      <Notice kind={approval === 'waiting' ? 'info' : 'success'}>
        {approval === 'waiting' && <p>{text('organise.made.waiting')}</p>}
        {opensAt !== null && isBeforeOpening({ opens_at: opensAt }) ? (
          <p>
            {text('organise.make.from_time', {
              time: formatDateTimeThere(Date.parse(opensAt), event.time_zone),
            })}
          </p>
        ) : (
          approval !== 'waiting' && <p>{text('organise.made.open')}</p>
        )}
      </Notice>
      <form
        class="card step"
        noValidate
        onSubmit={(submitted) => {
          submitted.preventDefault()
          leave()
        }}
      >
        <h2>{text('organise.made.code')}</h2>
        <p>{text('organise.made.code_explained')}</p>
        <p class="row uuid">
          <code>{code}</code>
          <CopyButton value={code} label={text('organise.made.code')} />
        </p>
        <AccountField name={event.name} />
        <input
          ref={password}
          type="password"
          class="visually-hidden"
          autocomplete="new-password"
          tabIndex={-1}
          aria-hidden="true"
          readOnly
        />
        <KeepCode
          isKept={isStored.value}
          onChange={(keeps) => {
            isStored.value = keeps
          }}
        />
        <label class="rule">
          <input
            ref={box}
            type="checkbox"
            checked={isKept.value}
            aria-invalid={isMissed.value || undefined}
            aria-describedby="kept-fault"
            onChange={({ currentTarget }) => {
              isKept.value = currentTarget.checked
              isMissed.value = false
            }}
          />
          {text('organise.made.kept')}
        </label>
        <p class="fault" id="kept-fault" role="alert">
          {isMissed.value && text('organise.made.not_kept')}
        </p>
        <div class="row actions">
          <button type="submit" class="primary">
            {text('organise.made.see')}
          </button>
        </div>
      </form>
    </>
  )
}

/** The browser asks before it closes the page: the code would be lost. */
function warnBeforeLeaving(): () => void {
  const warn = (leaving: BeforeUnloadEvent) => leaving.preventDefault()
  window.addEventListener('beforeunload', warn)
  return () => window.removeEventListener('beforeunload', warn)
}
