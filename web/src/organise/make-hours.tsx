import { formatDateTime } from '../texts/format.ts'
import { locale, text } from '../texts/texts.ts'
import { zoneName } from './event-hours.ts'
import { draft, hoursOf } from './make-state.ts'

/** When players can claim, as it follows from the fields. */
export function Hours() {
  const { fromMs, untilMs } = hoursOf(draft.value)
  const zone = zoneName(fromMs ?? untilMs ?? Date.now(), locale.value)
  return (
    <div class="hint" role="status">
      <p>
        {fromMs === undefined
          ? text('organise.make.from_first_day')
          : text('organise.make.from_time', { time: formatDateTime(fromMs) })}{' '}
        {untilMs === undefined
          ? text('organise.make.days_hint')
          : text('organise.make.until_time', { time: formatDateTime(untilMs) })}
      </p>
      <p>{text('organise.make.zone', { zone })}</p>
    </div>
  )
}
