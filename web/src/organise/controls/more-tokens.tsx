import { attendance, LandpassError, type Report } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { formatDateTime } from '../../texts/format.ts'
import { locale, text } from '../../texts/texts.ts'
import { useReplacedFocus } from '../../ui/replaced-focus.ts'
import { isChangeWaiting } from '../change-waits.ts'
import { isMadeHere } from '../made-here.ts'
import { readCount } from '../read-count.ts'
import { MAX_TOKENS, tokensFaultText } from '../tokens-text.ts'
import { ActionFault } from './action-fault.tsx'
import { sendForEvent, withReport } from './controls-session.ts'
import { FieldForm } from './field-form.tsx'
import { useAction } from './use-action.ts'

/** Room for blanks around a number. */
const MAX_PASTED_LENGTH = 20

interface MoreTokensProps {
  readonly report: Report
  onChanged(): void
}

/** Tokens for the players who are still to come. */
export function MoreTokens({ report, onChanged }: MoreTokensProps) {
  return (
    <section class="card">
      <h2>{text('controls.tokens.heading')}</h2>
      {isMadeHere(report.event) ? (
        <TokensHere availability={report.availability} onChanged={onChanged} />
      ) : (
        <CodesOfIssuer report={report} onChanged={onChanged} />
      )}
    </section>
  )
}

interface TokensHereProps extends Pick<MoreTokensProps, 'onChanged'> {
  readonly availability: Report['availability']
}

/** A larger number, of an event that was made here. */
function TokensHere({ availability: { reason, total }, onChanged }: TokensHereProps) {
  const action = useAction()
  const said = useSignal('')
  if (reason === 'event_refused') return <p>{text('organise.next.event_refused')}</p>
  if (total === 0) return <p>{text('organise.next.waiting_for_operator')}</p>
  const readMore = (typed: string) => {
    const tokens = readCount(typed, locale.peek())
    return tokens !== undefined && tokens > total && tokens <= MAX_TOKENS ? tokens : undefined
  }
  const raise = async (tokens: number) => {
    said.value = ''
    const event = await withReport(() =>
      sendForEvent((id, credentials) => attendance.changeEvent(id, credentials, { tokens })),
    )
    said.value = isChangeWaiting(event) ? text('organise.news.waits') : ''
    onChanged()
  }
  return (
    <FieldForm
      id="more-tokens"
      label={text('organise.make.tokens')}
      hint={text('organise.change.tokens_hint', { count: total })}
      wrongWords={tokensFaultText(total + 1)}
      submit={text('controls.tokens.raise')}
      maxLength={MAX_PASTED_LENGTH}
      inputMode="numeric"
      action={action}
      read={readMore}
      send={raise}
      wordsOf={(fault) => wordsOfRefusal(fault, total)}
    >
      <p>{said.value}</p>
    </FieldForm>
  )
}

function wordsOfRefusal(fault: unknown, total: number): string | undefined {
  const isOfNumber = fault instanceof LandpassError && fault.code === 'invalid_parameter'
  if (!isOfNumber) return undefined
  return tokensFaultText(total + 1, fault)
}

/** Codes that the issuer made meanwhile, or will have approved. */
function CodesOfIssuer({ report, onChanged }: MoreTokensProps) {
  const action = useAction()
  const said = useSignal('')
  const { codes_load: loads, availability } = report
  const buttons = useRef<HTMLDivElement>(null)
  const wasReplaced = useReplacedFocus(loads === null, () =>
    [...(buttons.current?.querySelectorAll('button') ?? [])].at(-1),
  )
  const load = (whenApproved: boolean) =>
    action.run(async () => {
      said.value = ''
      const { body } = await withReport(() =>
        sendForEvent((id, credentials) =>
          attendance.loadCodes(id, credentials, { load_when_approved: whenApproved }),
        ),
      )
      said.value = body.waiting_for_issuer
        ? text('organise.state.waiting_for_issuer')
        : body.num > 0
          ? text('organise.news.codes', { count: body.num, total: body.total })
          : text('organise.news.no_new_codes', { total: body.total })
      onChanged()
    })
  const loadAlone = async (isWanted: boolean) => {
    wasReplaced.current = true
    await load(isWanted)
    if (action.fault.peek() !== undefined) wasReplaced.current = false
  }
  const isBusy = action.isBusy.value
  return (
    <>
      <p>{text('controls.tokens.at_issuer')}</p>
      <div class="row" ref={buttons}>
        <button
          type="button"
          aria-disabled={isBusy}
          aria-describedby="load-fault"
          onClick={() => {
            wasReplaced.current = false
            void load(loads !== null)
          }}
        >
          {text('organise.codes.load')}
        </button>
        {!loads && availability.total === 0 && (
          <button
            type="button"
            aria-disabled={isBusy}
            aria-describedby="load-explained"
            onClick={() => void loadAlone(true)}
          >
            {text('controls.tokens.when_approved')}
          </button>
        )}
        {loads && (
          <button type="button" aria-disabled={isBusy} onClick={() => void loadAlone(false)}>
            {text('controls.tokens.not_alone')}
          </button>
        )}
      </div>
      {!loads && availability.total === 0 && (
        <p class="hint" id="load-explained">
          {text('controls.tokens.when_approved_explained')}
        </p>
      )}
      {loads && (
        <p class="hint">
          {text('controls.tokens.loads_until', { time: formatDateTime(Date.parse(loads.until)) })}{' '}
          {loads.last_try_at !== null &&
            text('controls.tokens.last_try', { time: formatDateTime(Date.parse(loads.last_try_at)) })}
        </p>
      )}
      <p role="status">{said.value}</p>
      <ActionFault id="load-fault" action={action} />
    </>
  )
}
