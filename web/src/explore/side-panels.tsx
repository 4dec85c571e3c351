import { effect, signal, untracked } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { AssetPanel } from '../asset/asset-panel.tsx'
import { ListsPanel } from '../lists/lists-panel.tsx'
import { openList, selection } from '../state/explore-state.ts'
import { focusMap, isInMap, uncover } from '../state/map-frame.ts'
import { selectedNow } from '../state/selected-now.ts'
import { text } from '../texts/texts.ts'

type PanelName = 'asset' | 'list'

/** The panel that was opened last. Where there is room for one alone, it is this one. */
const front = signal<PanelName>('asset')

/** Keeps the newest panel in front. */
export function followPanels(): () => void {
  const ends = [
    effect(() => {
      front.value = selection.value ? 'asset' : 'list'
    }),
    effect(() => {
      front.value = openList.value ? 'list' : 'asset'
    }),
  ]
  // A link can open both: what is selected is what it is about.
  untracked(() => {
    front.value = selection.peek() ? 'asset' : 'list'
  })
  return () => {
    for (const end of ends) end()
  }
}

/** Closes the panel in front. @returns whether there was one */
export function closeFrontPanel(): boolean {
  if (!selection.peek() && !openList.peek()) return false
  if (front.peek() === 'asset' && selection.peek()) closeAsset()
  else if (openList.peek()) closeList()
  else closeAsset()
  return true
}

/** Leads from the map, or from wherever else, into the panel in front, and from there to the map. */
export function switchToPanel(): boolean {
  const panel = document.querySelector<HTMLElement>('.side-panel.in-front')
  if (!panel) return false
  if (panel.contains(document.activeElement)) focusMap()
  else panel.focus({ preventScroll: true })
  return true
}

/** What is selected and which list is open: beside the map, or below it on a phone held upright. */
export function SidePanels() {
  const wish = openList.value
  const selected = selection.value
  const shown = useRef(selected)
  useEffect(() => {
    // The panel is there now, and covers a part of the map. What a link selects is where the link says.
    if (shown.current !== selected) uncover(selectedNow.peek())
    shown.current = selected
  }, [selected])
  if (!wish && !selected) return null
  return (
    <div class="side">
      {wish && (
        <SidePanel name="list" label={text('nav.lists')} subject={wish.name}>
          <ListsPanel wish={wish} onChange={changeList} onClose={closeList} />
        </SidePanel>
      )}
      {selected && (
        <SidePanel name="asset" label={text('map.selection')} subject={JSON.stringify(selected)}>
          <AssetPanel selection={selected} onClose={closeAsset} />
        </SidePanel>
      )}
    </div>
  )
}

function changeList(wish: NonNullable<typeof openList.value>): void {
  openList.value = wish
}

function closeList(): void {
  openList.value = undefined
}

function closeAsset(): void {
  selection.value = undefined
}

interface SidePanelProps {
  readonly name: PanelName
  readonly label: string
  /** What it is about: it is opened anew when that changes. */
  readonly subject: string
  readonly children: ComponentChildren
}

function SidePanel({ name, label, subject, children }: SidePanelProps) {
  const panel = useRef<HTMLElement>(null)
  const opener = useRef<Element | null>(null)
  useEffect(() => {
    const active = document.activeElement
    if (!panel.current?.contains(active)) opener.current = active
    takeKeyboard(panel.current)
  }, [subject])
  useEffect(() => () => giveKeyboardBack(opener.current), [])
  return (
    <section
      ref={panel}
      class={`side-panel card ${front.value === name ? 'in-front' : ''}`}
      aria-label={label}
      tabIndex={-1}
    >
      {children}
    </section>
  )
}

/** Whoever opened the panel by a button or by search goes on reading there; whoever explores the map stays there. */
function takeKeyboard(panel: HTMLElement | null): void {
  const active = document.activeElement
  if (!active || active === document.body || isInMap(active) || panel?.contains(active)) return
  panel?.focus({ preventScroll: true })
}

/** The keyboard of a panel that is gone belongs to what opened it; to the map where that is gone too. */
function giveKeyboardBack(opener: Element | null): void {
  // What lay below is shown again only after this.
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body) return
    if (opener instanceof HTMLElement && opener.isConnected) opener.focus({ preventScroll: true })
    if (document.activeElement === document.body) focusMap()
  })
}
