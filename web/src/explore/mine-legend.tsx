import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { worldGrid } from '../live/world.ts'
import { MINE_INK } from '../map/inks.ts'
import { FIRST_PAGE, mine, openList } from '../state/explore-state.ts'
import { holdingsOf } from '../state/layer-inks.ts'
import { mineCells } from '../state/layers.ts'
import { showCells } from '../state/map-frame.ts'
import { findTypedAddress } from '../state/typed-place.ts'
import { writeStored } from '../stored.ts'
import { shortAddress } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { useFirstFocus } from '../ui/focus.ts'
import { Swatch } from './swatch.tsx'

/** Whose land is shown, and how much of it there is. */
export function MineLegend() {
  /**
   * Whether a button here was pressed: then the focus moves to what replaces it. When the layer is chosen, the focus
   * stays at the choice.
   */
  const isPressed = useRef(false)
  const press = () => {
    isPressed.current = true
  }
  useLayoutEffect(() => {
    isPressed.current = false
  }, [mine.value])
  return mine.value === undefined ? (
    <MineForm takesFocus={isPressed.current} onAccept={press} />
  ) : (
    <MineFacts address={mine.value} takesFocus={isPressed.current} onForget={press} />
  )
}

interface MineFormProps {
  readonly takesFocus: boolean
  onAccept(): void
}

/** Asks for an address. It is stored in this browser and is not sent to anybody. */
function MineForm({ takesFocus, onAccept }: MineFormProps) {
  const typed = useSignal('')
  const isRefused = useSignal(false)
  const input = useFirstFocus<HTMLInputElement>(takesFocus)
  const accept = (event: Event) => {
    event.preventDefault()
    const address = findTypedAddress(typed.value)
    isRefused.value = address === undefined
    if (address === undefined) return input.current?.focus()
    onAccept()
    writeStored('mine', address)
    mine.value = address
    showCells(mineCells.value)
  }
  return (
    <form onSubmit={accept} noValidate>
      <label for="mine">{text('map.mine.address')}</label>
      <input
        id="mine"
        ref={input}
        type="text"
        autoComplete="off"
        autoCapitalize="off"
        spellcheck={false}
        maxLength={100}
        placeholder="0x…"
        value={typed.value}
        aria-invalid={isRefused.value}
        aria-describedby="mine-fault"
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
        }}
      />
      <p id="mine-fault" class="fault" role="alert">
        {isRefused.value && text('map.mine.invalid')}
      </p>
      <button type="submit" class="primary">
        {text('map.mine.show')}
      </button>
    </form>
  )
}

interface MineFactsProps {
  readonly address: string
  readonly takesFocus: boolean
  onForget(): void
}

function MineFacts({ address, takesFocus, onForget }: MineFactsProps) {
  const heading = useFirstFocus<HTMLParagraphElement>(takesFocus)
  const cells = mineCells.value
  const grid = worldGrid.value
  const forget = () => {
    onForget()
    writeStored('mine', undefined)
    mine.value = undefined
  }
  return (
    <div class="mine-facts">
      <p class="legend-line" ref={heading} tabIndex={-1} title={address}>
        <Swatch ink={MINE_INK} />
        {text('map.mine.of', { address: shortAddress(address) })}
      </p>
      {grid && <MineCounts {...holdingsOf(grid, cells)} />}
      <div class="row">
        {cells.length > 0 && (
          <button type="button" onClick={() => showCells(cells)}>
            {text('map.mine.show_all')}
          </button>
        )}
        <button
          type="button"
          onClick={() => {
            openList.value = { name: 'parcels', address, ...FIRST_PAGE }
          }}
        >
          {text('nav.lists')}
        </button>
        <button type="button" onClick={forget}>
          {text('map.mine.other')}
        </button>
      </div>
    </div>
  )
}

interface MineCountsProps {
  readonly parcels: number
  readonly estates: number
  readonly parcelsInEstates: number
}

function MineCounts({ parcels, estates, parcelsInEstates }: MineCountsProps) {
  if (parcels + estates === 0) return <p role="status">{text('map.mine.none')}</p>
  return (
    <ul class="facts" role="status">
      <li>{text('map.parcels', { count: parcels })}</li>
      <li>{text('map.estates', { count: estates })}</li>
      {estates > 0 && <li>{text('map.mine.in_estates', { count: parcelsInEstates })}</li>}
    </ul>
  )
}
