import { formatDateTime } from '../texts/format.ts'
import { locale, text } from '../texts/texts.ts'
import { LineField } from './event-fields.tsx'
import { deviceZone, momentsOf, zoneName, zoneNames } from './event-hours.ts'
import { type EventTimes, hoursOf, type TimePlace } from './event-times-state.ts'
import { RepeatedHour } from './repeated-hour.tsx'

interface TimesProps {
  readonly times: EventTimes
  onChange(change: Partial<EventTimes>, place?: TimePlace): void
}

/** First and last day, each with a time of day that may be left out, and the zone of these times. */
export function TimeFields({
  times,
  hasTimes = true,
  onChange,
}: TimesProps & { readonly hasTimes?: boolean }) {
  const fields = (which: 'first' | 'last') =>
    hasTimes ? ([`${which}_day`, `${which}_time`] as const) : ([`${which}_day`] as const)
  return (
    <>
      {(['first', 'last'] as const).map((which) => (
        <div key={which} class="day-and-time">
          {fields(which).map((field) => (
            <LineField
              key={field}
              id={field}
              place={field}
              label={text(`organise.make.${field}`)}
              hint=""
              input={{ class: 'short', type: field.endsWith('_day') ? 'date' : 'time' }}
              value={times[field]}
              onType={(typed) => onChange({ [field]: typed, [`${which}_later`]: false }, field)}
            />
          ))}
          {hasTimes && (
            <RepeatedHour
              id={`${which}-repeated`}
              moments={momentsOf({ day: times[`${which}_day`], time: times[`${which}_time`] }, times.zone)}
              zone={times.zone}
              isLater={times[`${which}_later`]}
              onChoose={(isLater) => onChange({ [`${which}_later`]: isLater })}
            />
          )}
        </div>
      ))}
      <ZoneField zone={times.zone} onChoose={(zone) => onChange({ zone })} />
      {hasTimes ? <Hours times={times} /> : <p class="hint">{text('organise.change.times_elsewhere')}</p>}
    </>
  )
}

interface ZoneFieldProps {
  readonly zone: string
  onChoose(zone: string): void
}

/** The zone of the times. */
function ZoneField({ zone, onChoose }: ZoneFieldProps) {
  return (
    <div class="field">
      <label for="time-zone">{text('organise.make.zone')}</label>
      <p class="hint" id="time-zone-hint">
        {text('organise.make.zone_hint', { zone: deviceZone() })}
      </p>
      <select
        id="time-zone"
        aria-describedby="time-zone-hint"
        value={zone}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        {zoneNames(zone).map((name) => (
          <option key={name} value={name} selected={name === zone}>
            {name.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
    </div>
  )
}

/** When players can claim, as it follows from the fields. */
export function Hours({ times }: Pick<TimesProps, 'times'>) {
  const { fromMs, untilMs } = hoursOf(times)
  const zone = zoneName(fromMs ?? untilMs ?? Date.now(), locale.value, times.zone)
  return (
    <div class="hint" role="status">
      <p>
        {fromMs === undefined
          ? text('organise.make.from_first_day')
          : text('organise.make.from_time', { time: formatDateTime(fromMs, times.zone) })}{' '}
        {untilMs === undefined
          ? text('organise.make.days_hint')
          : text('organise.make.until_time', { time: formatDateTime(untilMs, times.zone) })}
      </p>
      <p>{text('organise.make.zone_used', { zone })}</p>
    </div>
  )
}
