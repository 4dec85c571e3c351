import { computed, effect, untracked } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { AssetPanel } from '../asset/asset-panel.tsx'
import { DistrictPanel } from '../asset/district-panel.tsx'
import { isEmbedded } from '../embedded.ts'
import { WatchToggle } from '../lists/late-watch-toggle.ts'
import type { WatchToggleProps } from '../lists/list-props.ts'
import { ListsPanel } from '../lists/lists-panel.tsx'
import {
  chosenDistrict,
  frontPanel,
  layer,
  openList,
  type PanelName,
  selection,
} from '../state/explore-state.ts'
import { focusMap, isInMap, uncover } from '../state/map-frame.ts'
import { selectedNow } from '../state/selected-now.ts'
import { text } from '../texts/texts.ts'
import { SheetHandle } from './sheet-handle.tsx'
import { sheetHeight } from './sheet-height.ts'

/** The district that the layer brings out: it has a panel while nothing else is selected. */
const shownDistrict = computed(() => (layer.value === 'districts' ? chosenDistrict.value : undefined))

/** Keeps the newest panel in front. */
export function followPanels(): () => void {
  const ends = [
    effect(() => {
      const hasAsset = selection.value !== undefined || shownDistrict.value !== undefined
      frontPanel.value = hasAsset ? 'asset' : 'list'
      // A sheet that covers the map would hide the land that was chosen from a list.
      if (hasAsset && sheetHeight.peek() === 'full') sheetHeight.value = 'half'
    }),
    effect(() => {
      frontPanel.value = openList.value ? 'list' : 'asset'
    }),
  ]
  // A link can open both panels: then the selection is in front.
  untracked(() => {
    frontPanel.value = selection.peek() || shownDistrict.peek() !== undefined ? 'asset' : 'list'
  })
  return () => {
    for (const end of ends) end()
  }
}

/** Closes the panel in front. @returns whether there was one */
export function closeFrontPanel(): boolean {
  const hasAsset = selection.peek() !== undefined || shownDistrict.peek() !== undefined
  if (!hasAsset && !openList.peek()) return false
  if (frontPanel.peek() === 'asset' && hasAsset) closeAsset()
  else if (openList.peek()) closeList()
  else closeAsset()
  return true
}

/** Moves the focus into the panel in front, or back to the map if it is there. @returns whether there is a panel */
export function switchToPanel(): boolean {
  const panel = document.querySelector<HTMLElement>('.side-panel.in-front')
  if (!panel) return false
  if (panel.contains(document.activeElement)) focusMap()
  else panel.focus({ preventScroll: true })
  return true
}

/** The panels of the selection and of the open list: beside the map, or a sheet over its lower part on an upright phone. */
export function SidePanels() {
  const query = openList.value
  const selected = selection.value
  const district = selected ? undefined : shownDistrict.value
  const shown = useRef(selected)
  // Before the next input: a key or a press that moves the map right after the choice must not be overruled.
  useLayoutEffect(() => {
    // The panel covers a part of the map. For a selection that came with the link there is no world yet: the page does the same
    // once it is loaded.
    if (shown.current !== selected) uncover(selectedNow.peek())
    shown.current = selected
  }, [selected])
  if (!query && !selected && district === undefined) return null
  return (
    <div class="side" data-height={sheetHeight.value}>
      <SheetHandle />
      {query && (
        <SidePanel name="list" label={text('nav.lists')} subject={query.name}>
          <ListsPanel query={query} onChange={changeList} onClose={closeList} />
        </SidePanel>
      )}
      {selected && (
        <SidePanel name="asset" label={text('map.selection')} subject={JSON.stringify(selected)}>
          <AssetPanel selection={selected} watchOf={isEmbedded ? undefined : watchOf} onClose={closeAsset} />
        </SidePanel>
      )}
      {district !== undefined && (
        <SidePanel name="asset" label={text('map.selection')} subject={district}>
          <DistrictPanel id={district} onClose={closeAsset} />
        </SidePanel>
      )}
    </div>
  )
}

/** The button that watches one parcel or estate. */
function watchOf(filters: WatchToggleProps['filters']) {
  return <WatchToggle filters={filters} label={text('watch.asset')} />
}

function changeList(query: NonNullable<typeof openList.value>): void {
  openList.value = query
}

function closeList(): void {
  openList.value = undefined
}

function closeAsset(): void {
  if (selection.peek()) selection.value = undefined
  else chosenDistrict.value = undefined
}

interface SidePanelProps {
  readonly name: PanelName
  readonly label: string
  /** Identifies the content: when it changes, the panel counts as newly opened. */
  readonly subject: string
  readonly children: ComponentChildren
}

function SidePanel({ name, label, subject, children }: SidePanelProps) {
  const panel = useRef<HTMLElement>(null)
  const opener = useRef<Element | null>(null)
  useLayoutEffect(() => {
    const active = document.activeElement
    if (!panel.current?.contains(active)) opener.current = active
    takeFocus(panel.current)
    if (name === 'list') sheetHeight.value = 'half'
  }, [subject])
  useLayoutEffect(() => () => returnFocus(opener.current), [])
  return (
    <section
      ref={panel}
      class={`side-panel card ${frontPanel.value === name ? 'in-front' : ''}`}
      aria-label={label}
      tabIndex={-1}
    >
      {children}
    </section>
  )
}

/** Moves the focus into a panel that was opened by a button or by search. With the focus on the map it stays there. */
function takeFocus(panel: HTMLElement | null): void {
  const active = document.activeElement
  if (!active || active === document.body || isInMap(active) || panel?.contains(active)) return
  panel?.focus({ preventScroll: true })
}

/** Returns the focus of a closed panel to the element that opened it, or to the map if that element is gone. */
function returnFocus(opener: Element | null): void {
  // Only after the next layout are the elements below the panel visible and focusable again.
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return
    if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true })
    if (document.activeElement === document.body) focusMap()
  })
}
