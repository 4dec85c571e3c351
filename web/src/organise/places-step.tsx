import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { isServed } from '../ui/interfaces.ts'
import { MAX_PLACES, MAX_TEXT_LENGTH } from './coordinates.ts'
import { Field } from './field.tsx'
import { goTo, leavePlacesStep } from './form-state.ts'
import { PlacesMap, showOnMap } from './places-map.tsx'
import {
  changePlaces,
  coordinatesFaultText,
  earlierPlaces,
  placesText,
  readPlaces,
  typePlaces,
  undoPlaces,
} from './places-state.ts'
import { StepHeading } from './step-heading.tsx'

/** Step 2: where players can claim, drawn or typed. */
export function PlacesStep() {
  const hasMap = isServed('land')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        leavePlacesStep()
      }}
    >
      <StepHeading step="places">{text('organise.places.heading')}</StepHeading>
      <p>{text('organise.places.explained', { count: MAX_PLACES })}</p>
      {hasMap && <PlacesMap />}
      <PlacesField />
      <div class="row actions">
        <button type="submit" class="primary">
          {text('organise.next')}
        </button>
        <button type="button" onClick={() => goTo('event')}>
          {text('organise.back')}
        </button>
      </div>
    </form>
  )
}

/**
 * Errors are shown this long after the last key, because an incomplete pair is no mistake. As in the first step,
 * leaving the field changes nothing.
 */
const SETTLED_AFTER_MS = 1_000

/** The places as text, with their count. */
export function PlacesField() {
  const typed = placesText.value
  const settled = useSignal(typed)
  const isTypedByHand = useRef(false)
  useEffect(() => {
    const timer = window.setTimeout(() => {
      settled.value = typed
      const last = readPlaces.peek().places.at(-1)
      if (last && isTypedByHand.current) showOnMap(last)
      isTypedByHand.current = false
    }, SETTLED_AFTER_MS)
    return () => window.clearTimeout(timer)
  }, [typed])
  const isSlip = typed.trim() !== '' && typed === settled.value && readPlaces.value.fault !== undefined
  return (
    <Field<HTMLTextAreaElement>
      id="places"
      place="coordinates"
      label={text('organise.places.label')}
      hint={isServed('land') ? text('organise.places.hint') : text('organise.places.hint_text')}
      earlyFault={isSlip ? coordinatesFaultText() : undefined}
      below={<PlacesCount />}
    >
      {(parts) => (
        <textarea
          {...parts}
          rows={3}
          autocomplete="off"
          spellcheck={false}
          maxLength={MAX_TEXT_LENGTH}
          placeholder="52,-10;53,-10"
          value={placesText.value}
          onInput={({ currentTarget }) => {
            isTypedByHand.current = true
            typePlaces(currentTarget.value)
          }}
        />
      )}
    </Field>
  )
}

function PlacesCount() {
  return (
    <div class="row places-count">
      <span role="status">{text('organise.places.count', { count: readPlaces.value.places.length })}</span>
      <span class="row">
        <button type="button" class="quiet" disabled={earlierPlaces.value.length === 0} onClick={undoPlaces}>
          {text('organise.places.undo')}
        </button>
        <button
          type="button"
          class="quiet"
          disabled={placesText.value === ''}
          onClick={() => changePlaces('')}
        >
          {text('organise.places.clear')}
        </button>
      </span>
    </div>
  )
}
