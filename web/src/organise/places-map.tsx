import { land } from '@landpass/client'
import { computed, signal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { send } from '../api/client.ts'
import { repeatWorldWhileFailing } from '../live/repeat-world.ts'
import { loadWorld, worldFault, worldGrid, worldStatus } from '../live/world.ts'
import { MINE_INK } from '../map/inks.ts'
import type { Place, View } from '../map/map-types.ts'
import { WorldMap } from '../map/world-map.tsx'
import { failureText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'
import { Loading, Notice } from '../ui/notice.tsx'
import { MAX_PLACES, placesBetween, readCoordinates, withDrawn } from './coordinates.ts'
import { changePlaces, placesText, readPlaces } from './places-state.ts'

/** Smallest zoom at which the map shows a single place, in CSS pixels a parcel. */
const CLOSE_ZOOM = 14
/** As on the server. */
const MAX_SEARCH_LENGTH = 100
const MAX_RESULTS = 8

const view = signal<View | undefined>(undefined)
/** By cell number. */
const chosen = computed(() => {
  const grid = worldGrid.value
  if (!grid) return new Uint32Array(0)
  const cells = readPlaces.value.places.map(({ x, y }) => grid.cellAt(x, y))
  return Uint32Array.from(cells.filter((cell) => cell >= 0))
})
const inks = computed(() => {
  const painted = new Uint8Array(worldGrid.value?.cells.length ?? 0)
  for (const cell of chosen.value) painted[cell] = MINE_INK
  return painted
})

/** Moves the map to a place, near enough to see it. */
export function showOnMap(place: Place): void {
  view.value = { ...place, zoom: Math.max(CLOSE_ZOOM, view.peek()?.zoom ?? 0) }
}

/**
 * The places on the map: a click or tap adds or removes one, dragging adds or removes a rectangle. A finger scrolls the
 * page unless "Draw" is pressed.
 */
export function PlacesMap() {
  const isTooMany = useSignal(false)
  const isFingerDrawing = useSignal(false)
  useEffect(() => {
    if (!worldGrid.peek()) void loadWorld()
    return repeatWorldWhileFailing()
  }, [])
  useEffect(() => {
    const [first] = readPlaces.peek().places
    if (first) showOnMap(first)
  }, [])
  /** From far away a tap hits any of many parcels: it comes nearer first. */
  const pick = (place: Place) => {
    if ((view.peek()?.zoom ?? 0) < CLOSE_ZOOM) showOnMap(place)
    else draw([place])
  }
  const draw = (drawn: readonly Place[] | undefined) => {
    const inside = drawn?.filter(isOnLand)
    const wanted = inside && withDrawn(placesText.peek(), inside)
    isTooMany.value = wanted === undefined || readCoordinates(wanted).fault?.kind === 'too_many'
    if (wanted !== undefined && !isTooMany.value) changePlaces(wanted)
  }
  if (worldStatus.value === 'failed') return <NoMap />
  if (worldStatus.value === 'loading') return <Loading label={text('map.loading')} />
  return (
    <div class="places-map">
      <PlaceSearch />
      <p class="hint">{text('organise.places.nearer')}</p>
      <p class="hint for-mouse">{text('organise.places.how_to_draw')}</p>
      <div class="for-finger">
        <p class="hint">{text('organise.places.how_to_tap')}</p>
        <button
          type="button"
          aria-pressed={isFingerDrawing.value}
          onClick={() => {
            isFingerDrawing.value = !isFingerDrawing.value
          }}
        >
          {text('organise.places.draw')}
        </button>
      </div>
      <div class="map-frame">
        <WorldMap
          view={view}
          inks={inks}
          selected={chosen}
          label={text('organise.places.map')}
          mode="draw"
          finger={isFingerDrawing.value ? 'drag' : 'scroll'}
          onPick={pick}
          onDraw={(from, to) => draw(placesBetween(from, to))}
        />
      </div>
      <p class="fault" role="alert">
        {isTooMany.value && text('organise.places.stroke_too_large', { count: MAX_PLACES })}
      </p>
    </div>
  )
}

/** Moves the map to what is typed: coordinates, or a name of land. Inside of a form, so it is none itself. */
function PlaceSearch() {
  const typed = useSignal('')
  const fault = useSignal('')
  const isBusy = useSignal(false)
  const find = async () => {
    if (isBusy.peek() || typed.peek().trim() === '') return
    isBusy.value = true
    fault.value = ''
    try {
      const { results } = await send(land.search(typed.peek().trim(), { limit: MAX_RESULTS }))
      const place = results.find(hasPlace)
      if (place) showOnMap(place)
      else fault.value = text('organise.places.not_found')
    } catch (error) {
      fault.value = failureText(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <div class="field place-search">
      <label for="place-search">{text('organise.places.search')}</label>
      <div class="row">
        <input
          id="place-search"
          type="search"
          autocomplete="off"
          spellcheck={false}
          maxLength={MAX_SEARCH_LENGTH}
          aria-describedby="place-search-fault"
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value
            fault.value = ''
          }}
          onKeyDown={(pressed) => {
            if (pressed.key !== 'Enter') return
            pressed.preventDefault() // it would send the form
            void find()
          }}
        />
        <button type="button" aria-disabled={isBusy.value} onClick={() => void find()}>
          {text('organise.places.find')}
        </button>
      </div>
      <p class="fault" id="place-search-fault" role="alert">
        {fault.value}
      </p>
    </div>
  )
}

/** Addresses have no place. */
function hasPlace<Result extends object>(result: Result): result is Result & Place {
  return 'x' in result && typeof result.x === 'number'
}

/** Shown where the map cannot be loaded: typing still works. */
function NoMap() {
  return (
    <Notice kind="info">
      <p>{text('organise.places.no_map')}</p>
      <p>
        {failureText(worldFault.value)} {text('common.keeps_trying')}
      </p>
      <button type="button" onClick={() => void loadWorld()}>
        {text('common.retry')}
      </button>
    </Notice>
  )
}

/** A rectangle may reach beyond the edge of the world. */
function isOnLand({ x, y }: Place): boolean {
  return worldGrid.peek()?.tileAt(x, y).type !== 'outside'
}
