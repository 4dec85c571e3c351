import { land } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useId } from 'preact/hooks'
import { useAnswer } from '../live/use-answer.ts'
import { landFilter } from '../state/explore-state.ts'
import {
  ASSET_TYPES,
  type FilterName,
  type LandFilter,
  RANGES,
  type RangeName,
  readFilter,
  STATUSES,
} from '../state/land-filter.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { locale, type TextKey, text } from '../texts/texts.ts'
import { readNumber, writeNumber } from '../texts/typed-number.ts'
import { RANGE_NAMES, STATUS_NAMES } from './filter-texts.ts'

const NUMBER_FAULT: TextKey = 'filter.number_fault'

/** The filters of `/v2/land` that the page offers. Each takes effect when its field is left, or with Enter. */
export function FilterForm() {
  const districts = useAnswer(land.districts())
  const kinds = { parcel: 'asset.parcel.many', estate: 'asset.estate.many' } as const
  return (
    <form onSubmit={(event) => event.preventDefault()} noValidate>
      <Choice
        name="asset_type"
        label={text('filter.asset_type')}
        options={ASSET_TYPES.map((kind) => [kind, text(kinds[kind])])}
      />
      <Choice
        name="status"
        label={text('list.status')}
        options={STATUSES.map((status) => [status, text(STATUS_NAMES[status])])}
      />
      {RANGES.map((range) => (
        <RangeFields key={range} range={range} />
      ))}
      <Field name="max_plaza" label={text('filter.plaza_most')} fault={NUMBER_FAULT} />
      <Field name="max_road" label={text('filter.road_most')} fault={NUMBER_FAULT} />
      <Choice
        name="in_district"
        label={text('asset.district')}
        options={(districts.data ?? []).map(({ id, name }) => [id, withoutTurns(name)])}
      />
      <Field name="owner" label={text('filter.owner')} fault="list.address.fault" />
      <Field name="q" label={text('filter.q')} fault="filter.q" />
    </form>
  )
}

function filterWith(change: { readonly [Name in FilterName]?: string | undefined }): LandFilter {
  const wanted: { readonly [Name in FilterName]?: string | undefined } = { ...landFilter.peek(), ...change }
  return readFilter((name) => wanted[name])
}

interface ChoiceProps {
  readonly name: FilterName
  readonly label: string
  readonly options: readonly (readonly [value: string, label: string])[]
}

function Choice({ name, label, options }: ChoiceProps) {
  const id = useId()
  return (
    <div class="filter-field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={landFilter.value[name] ?? ''}
        onChange={({ currentTarget }) => {
          landFilter.value = filterWith({ [name]: currentTarget.value })
        }}
      >
        <option value="">{text('filter.any')}</option>
        {options.map(([value, option]) => (
          <option key={value} value={value}>
            {option}
          </option>
        ))}
      </select>
    </div>
  )
}

function RangeFields({ range }: { readonly range: RangeName }) {
  return (
    <fieldset class="filter-field filter-range">
      <legend>{text(RANGE_NAMES[range])}</legend>
      <Field name={`min_${range}`} label={text('filter.from')} fault={NUMBER_FAULT} />
      <Field name={`max_${range}`} label={text('filter.to')} fault={NUMBER_FAULT} />
    </fieldset>
  )
}

interface FieldProps {
  readonly name: FilterName
  readonly label: string
  /** What the field says of a value that the filter does not take. */
  readonly fault: TextKey
}

function Field({ name, label, fault }: FieldProps) {
  const id = useId()
  const refused = useSignal<{ readonly typed: string; readonly beside: LandFilter } | undefined>(undefined)
  // What was refused is shown until any filter changes.
  const isRefused = refused.value?.beside === landFilter.value
  const isNumber = fault === NUMBER_FAULT
  const shown = landFilter.value[name] ?? ''
  return (
    <div class="filter-field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        inputMode={isNumber ? 'decimal' : 'text'}
        autocomplete="off"
        spellcheck={false}
        value={isRefused ? refused.value?.typed : isNumber ? writeNumber(shown, locale.value) : shown}
        aria-invalid={isRefused}
        aria-describedby={isRefused ? `${id}-fault` : undefined}
        onChange={({ currentTarget }) => {
          const typed = currentTarget.value.trim()
          const value = isNumber ? readNumber(typed, locale.peek()) : typed
          const next = filterWith({ [name]: value })
          const isTaken = typed === '' || next[name] !== undefined
          if (isTaken) landFilter.value = next
          refused.value = isTaken ? undefined : { typed, beside: landFilter.peek() }
        }}
      />
      {isRefused && (
        <p class="fault" id={`${id}-fault`} role="alert">
          {text(fault, { whole: 1500, part: 0.5 })}
        </p>
      )}
    </div>
  )
}
