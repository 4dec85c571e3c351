import type { Selection } from '../state/explore-state.ts'
import './asset.css'
import { EstatePanel } from './estate-panel.tsx'
import { ParcelPanel } from './parcel-panel.tsx'

export interface AssetPanelProps {
  readonly selection: Selection
  onClose(): void
}

/** A parcel or an estate: its owner, its price and its history. */
export function AssetPanel({ selection, onClose }: AssetPanelProps) {
  return selection.type === 'parcel' ? (
    <ParcelPanel key={`${selection.x},${selection.y}`} x={selection.x} y={selection.y} onClose={onClose} />
  ) : (
    <EstatePanel key={selection.id} id={selection.id} onClose={onClose} />
  )
}
