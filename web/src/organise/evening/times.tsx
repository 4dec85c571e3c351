import { type EventInfo, LandpassError } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { text } from '../../texts/texts.ts'
import { ActionFault } from './action-fault.tsx'
import { changeEvening } from './evening-session.ts'
import { isoOf, localText } from './local-time.ts'
import { useAction } from './use-action.ts'

interface TimesProps {
  readonly event: EventInfo
  onChanged(): void
}

/** From when until when players can claim. What is being typed stays when the report changes. */
export function Times({ event, onChanged }: TimesProps) {
  const action = useAction()
  const typedStart = useSignal<string | undefined>(undefined)
  const typedEnd = useSignal<string | undefined>(undefined)
  const isWrong = useSignal(false)
  const start = typedStart.value ?? localText(event.distribution_start_date)
  const end = typedEnd.value ?? localText(event.distribution_end_date)
  const save = async () => {
    const [from, until] = [isoOf(start), isoOf(end)]
    isWrong.value =
      from === undefined || until === undefined || (from !== null && until !== null && from >= until)
    if (isWrong.value || from === undefined || until === undefined) return
    await changeEvening({
      ...(typedStart.value !== undefined && { distribution_start_date: from }),
      ...(typedEnd.value !== undefined && { distribution_end_date: until }),
    })
    typedStart.value = undefined
    typedEnd.value = undefined
    onChanged()
  }
  const isTyped = typedStart.value !== undefined || typedEnd.value !== undefined
  return (
    <form
      class="card"
      noValidate
      onSubmit={(submitted) => {
        submitted.preventDefault()
        if (isTyped) void action.run(save)
      }}
    >
      <h2>{text('evening.times.heading')}</h2>
      <p class="hint" id="times-hint">
        {text('evening.times.hint', { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}
      </p>
      <TimeField id="opens-at" label={text('evening.times.opens')} value={start} typed={typedStart} />
      <TimeField id="closes-at" label={text('evening.times.closes')} value={end} typed={typedEnd} />
      <p class="fault" role="alert">
        {isWrong.value && text('evening.times.wrong')}
      </p>
      <ActionFault id="times-fault" action={action} wordsOf={wordsOfRefusal} />
      <div class="row actions">
        <button type="submit" class="primary" aria-disabled={!isTyped || action.isBusy.value}>
          {text('evening.times.save')}
        </button>
        {isTyped && (
          <button
            type="button"
            onClick={() => {
              typedStart.value = undefined
              typedEnd.value = undefined
              isWrong.value = false
              action.fault.value = undefined
            }}
          >
            {text('evening.times.undo')}
          </button>
        )}
      </div>
    </form>
  )
}

interface TimeFieldProps {
  readonly id: string
  readonly label: string
  readonly value: string
  readonly typed: { value: string | undefined }
}

function TimeField({ id, label, value, typed }: TimeFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="short"
        type="datetime-local"
        autocomplete="off"
        aria-describedby="times-hint times-fault"
        value={value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
        }}
      />
    </div>
  )
}

/** The server names the option that it refuses: these are the only two that are sent. */
function wordsOfRefusal(fault: unknown): string | undefined {
  const isOfTime = fault instanceof LandpassError && fault.code === 'invalid_parameter'
  return isOfTime ? text('evening.times.wrong') : undefined
}
