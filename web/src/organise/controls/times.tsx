import { LandpassError, type Report } from '@landpass/client'
import { type Signal, useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { formatDateTime, formatDays } from '../../texts/format.ts'
import { text } from '../../texts/texts.ts'
import { zoneOf } from '../event-hours.ts'
import { hasIncompleteField } from '../incomplete-field.ts'
import { RepeatedHour } from '../repeated-hour.tsx'
import { ActionFault } from './action-fault.tsx'
import { changeShownEvent } from './controls-session.ts'
import { isFarBefore, isLater, isoOf, localText, typedMoments } from './local-time.ts'
import { useAction } from './use-action.ts'

interface TimesProps {
  readonly report: Pick<Report, 'event' | 'availability'>
  onChanged(): void
}

/** From when until when players can claim. What is being typed stays when the report changes. */
export function Times({ report, onChanged }: TimesProps) {
  const { event, availability } = report
  const action = useAction()
  const form = useRef<HTMLFormElement>(null)
  const typedStart = useSignal<string | undefined>(undefined)
  const typedEnd = useSignal<string | undefined>(undefined)
  /** A field of which only a part was typed has no value, and a browser may tell nothing of it. */
  const isIncomplete = useSignal(false)
  const isWrong = useSignal(false)
  /** A time at which the clock shows no such hour. */
  const skippedHour = useSignal<string | undefined>(undefined)
  /** The opening is far before the event, and the next press saves it nevertheless. */
  const isEarly = useSignal(false)
  const zone = zoneOf(event)
  const start = typedStart.value ?? localText(event.distribution_start_date, zone)
  const end = typedEnd.value ?? localText(event.distribution_end_date, zone)
  /** Where the clock shows an hour twice, the second one is meant. */
  const startsLater = useSignal(false)
  const endsLater = useSignal(false)
  const isTyped = typedStart.value !== undefined || typedEnd.value !== undefined || isIncomplete.value
  const look = () => {
    isIncomplete.value = hasIncompleteField(form.current)
  }
  const change = () => {
    isWrong.value = false
    skippedHour.value = undefined
    isEarly.value = false
    action.fault.value = undefined
    look()
  }
  const save = async () => {
    // A field that was not typed in keeps its moment: its hour may be one of two
    const from =
      typedStart.value === undefined ? event.distribution_start_date : isoOf(start, zone, startsLater.value)
    const until =
      typedEnd.value === undefined ? event.distribution_end_date : isoOf(end, zone, endsLater.value)
    const skipped = [start, end].find((typed) => typed !== '' && typedMoments(typed, zone).length === 0)
    skippedHour.value = isIncomplete.value ? undefined : skipped
    if (skippedHour.value !== undefined) return
    isWrong.value =
      isIncomplete.value ||
      from === undefined ||
      until === undefined ||
      (from !== null && until !== null && from >= until)
    if (isWrong.value || from === undefined || until === undefined) return
    const mustConfirm = typedStart.value !== undefined && isFarBefore(from, event.event_start_date)
    if (mustConfirm && !isEarly.value) {
      isEarly.value = true
      return
    }
    isEarly.value = false
    await changeShownEvent({
      ...(typedStart.value !== undefined && { distribution_start_date: from }),
      ...(typedEnd.value !== undefined && { distribution_end_date: until }),
    })
    typedStart.value = undefined
    typedEnd.value = undefined
    onChanged()
  }
  const undo = () => {
    // Empties what is incomplete: its field has the value of an empty one, so nothing else would
    for (const input of form.current?.querySelectorAll('input') ?? []) input.value = ''
    typedStart.value = undefined
    typedEnd.value = undefined
    change()
  }
  return (
    <form
      class="card"
      noValidate
      ref={form}
      onKeyUp={look}
      onFocusOut={look}
      onSubmit={(submitted) => {
        submitted.preventDefault()
        look()
        if (isTyped || isIncomplete.value) void action.run(save)
      }}
    >
      <h2>{text('controls.times.heading')}</h2>
      <p class="hint" id="times-hint">
        {text(event.time_zone === zone ? 'controls.times.hint_event' : 'controls.times.hint', { zone })}
      </p>
      <TimeField
        id="opens-at"
        label={text('controls.times.opens')}
        hint={text('controls.times.opens_empty')}
        value={start}
        typed={typedStart}
        onChange={change}
      />
      {typedStart.value !== undefined && (
        <RepeatedHour
          id="opens-repeated"
          moments={typedMoments(start, zone)}
          zone={zone}
          isLater={startsLater.value}
          onChoose={(later) => {
            startsLater.value = later
          }}
        />
      )}
      <TimeField
        id="closes-at"
        label={text('controls.times.closes')}
        hint={emptyEndText(event.expiry_date)}
        value={end}
        typed={typedEnd}
        onChange={change}
      />
      {typedEnd.value !== undefined && (
        <RepeatedHour
          id="closes-repeated"
          moments={typedMoments(end, zone)}
          zone={zone}
          isLater={endsLater.value}
          onChoose={(later) => {
            endsLater.value = later
          }}
        />
      )}
      {availability.closes_at !== null && (
        <p id="real-end">{text('controls.times.real_end', { time: timeText(availability.closes_at) })}</p>
      )}
      <p class="hint" id="too-late" role="status">
        {event.expiry_date !== null &&
          isLater(end, event.expiry_date, zone) &&
          text('controls.times.too_late', { time: timeText(event.expiry_date) })}
      </p>
      <p class="fault" id="times-wrong" role="alert">
        {isWrong.value && text('controls.times.wrong')}
        {skippedHour.value !== undefined &&
          text('organise.make.skipped_fault', { time: skippedHour.value.slice(11, 16), zone })}
      </p>
      <p class="fault" id="times-early" role="alert">
        {isEarly.value &&
          event.event_start_date !== null &&
          text('controls.times.early', { day: dayText(event.event_start_date) })}
      </p>
      <ActionFault id="times-fault" action={action} wordsOf={wordsOfRefusal} />
      <div class="row actions">
        <button type="submit" class="primary" aria-disabled={!isTyped || action.isBusy.value}>
          {text(isEarly.value ? 'controls.times.save_early' : 'controls.times.save')}
        </button>
        {isTyped && (
          <button type="button" onClick={undo}>
            {text('controls.times.undo')}
          </button>
        )}
      </div>
    </form>
  )
}

interface TimeFieldProps {
  readonly id: string
  readonly label: string
  readonly hint: string
  readonly value: string
  readonly typed: Signal<string | undefined>
  onChange(): void
}

function TimeField({ id, label, hint, value, typed, onChange }: TimeFieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
      <input
        id={id}
        class="short"
        type="datetime-local"
        autocomplete="off"
        aria-describedby={`times-hint ${id}-hint times-wrong times-early times-fault`}
        value={value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          onChange()
        }}
      />
    </div>
  )
}

/** Until when players can claim without a closing time. @param expiry when the last day is over; null for no last day */
function emptyEndText(expiry: string | null): string {
  return expiry === null
    ? text('controls.times.closes_never')
    : text('controls.times.closes_empty', { time: timeText(expiry) })
}

function dayText(iso: string): string {
  const dayMs = Date.parse(iso)
  return formatDays(dayMs, dayMs)
}

function timeText(iso: string): string {
  return formatDateTime(Date.parse(iso))
}

/** The server names the option that it refuses: these are the only two that are sent. */
function wordsOfRefusal(fault: unknown): string | undefined {
  const isOfTime = fault instanceof LandpassError && fault.code === 'invalid_parameter'
  return isOfTime ? text('controls.times.wrong') : undefined
}
