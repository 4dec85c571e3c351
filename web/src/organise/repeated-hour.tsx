import { locale, text } from '../texts/texts.ts'
import { zoneDistance } from './event-hours.ts'

interface RepeatedHourProps {
  readonly id: string
  /** At which the clock shows the time. */
  readonly moments: readonly number[]
  readonly zone: string
  readonly isLater: boolean
  onChoose(isLater: boolean): void
}

/** In the night in which the clock goes back it shows an hour twice: the organiser chooses one of both. */
export function RepeatedHour({ id, moments, zone, isLater, onChoose }: RepeatedHourProps) {
  const [first, second] = moments
  if (first === undefined || second === undefined) return null
  return (
    <fieldset class="rules repeated-hour" data-part="repeated-hour">
      <legend>{text('organise.make.repeated')}</legend>
      {([false, true] as const).map((later) => (
        <label class="rule" key={String(later)}>
          <input type="radio" name={id} checked={isLater === later} onChange={() => onChoose(later)} />
          {text(later ? 'organise.make.repeated_second' : 'organise.make.repeated_first', {
            zone: zoneDistance(later ? second : first, locale.value, zone),
          })}
        </label>
      ))}
    </fieldset>
  )
}
