import { batch } from '@preact/signals'
import { FIRST_PAGE, layer, mine, openList } from '../state/explore-state.ts'
import { mineCells } from '../state/layers.ts'
import { showCellsAfterLayout } from '../state/map-frame.ts'
import { shortAddress } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Fact } from './facts.tsx'

/** An address in short form; pressing it shows the land that it has. */
export function Address({ address }: { readonly address: string }) {
  return (
    <button type="button" class="quiet address" title={address} onClick={() => showLandOf(address)}>
      {shortAddress(address)}
      <span class="visually-hidden">, {text('asset.show_land')}</span>
    </button>
  )
}

/** An address that has a role for the asset (owner, operator), with buttons to copy it and to show its land. */
export function AddressFact({ name, address }: { readonly name: string; readonly address: string }) {
  return (
    <Fact name={name}>
      <span class="asset-fact-line">
        <code title={address}>{shortAddress(address)}</code>
        <CopyButton value={address} label={name} />
      </span>
      <button type="button" class="quiet" onClick={() => showLandOf(address)}>
        {text('asset.show_land')}
      </button>
    </Fact>
  )
}

/** Highlights the land of an address on the map and opens the list of it. The selection stays. */
function showLandOf(address: string): void {
  batch(() => {
    mine.value = address
    layer.value = 'mine'
    openList.value = { name: 'parcels', address, ...FIRST_PAGE }
  })
  showCellsAfterLayout(() => mineCells.peek())
}
