import type { EventInfo } from '@landpass/client'
import { useLayoutEffect } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { LineField } from './event-fields.tsx'
import { SentForm } from './sent-form.tsx'
import {
  clearTakeBack,
  MAX_REASON_LENGTH,
  reasonText,
  takeBack,
  takenBack,
  tokenText,
  typeReason,
  typeToken,
} from './take-back-state.ts'

/** Room for the address of a token's page. */
const MAX_PASTED_LENGTH = 500

/** Takes a token of an event back that was made here. It uses the edit code of the form above. */
export function TakeBack({ info }: { readonly info: EventInfo }) {
  useLayoutEffect(() => clearTakeBack, [])
  const done = takenBack.value
  return (
    <details class="card tool">
      <summary>{text('organise.take_back.heading')}</summary>
      <p>{text('organise.take_back.explained')}</p>
      <SentForm
        place="take_back"
        submit={text('organise.take_back.submit')}
        busy={text('organise.take_back.busy')}
        isPrimary={false}
        onSend={() => void takeBack(info)}
      >
        <LineField
          id="token"
          place="token"
          label={text('organise.take_back.token')}
          hint={text('organise.take_back.token_hint')}
          input={{ maxLength: MAX_PASTED_LENGTH, spellcheck: false }}
          value={tokenText.value}
          onType={typeToken}
        />
        <LineField
          id="reason"
          place="reason"
          label={text('organise.take_back.reason')}
          hint={text('organise.take_back.reason_hint', { count: MAX_REASON_LENGTH })}
          input={{ maxLength: MAX_REASON_LENGTH, dir: 'auto' }}
          value={reasonText.value}
          onType={typeReason}
        />
        {done && (
          <Notice kind="success">
            <p>
              {text('organise.take_back.done', { number: done.number })}{' '}
              <a href={`/tokens/${done.id}`}>{text('organise.take_back.see')}</a>
            </p>
          </Notice>
        )}
      </SentForm>
    </details>
  )
}
