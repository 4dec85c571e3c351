import type { Selection } from '../state/explore-state.ts'
import './asset.css'
import { EstatePanel } from './estate-panel.tsx'
import type { PanelProps } from './panel-props.ts'
import { ParcelPanel } from './parcel-panel.tsx'

export interface AssetPanelProps extends PanelProps {
  readonly selection: Selection
}

/** A parcel or an estate: its owner, its price and its history. */
export function AssetPanel({ selection, ...panel }: AssetPanelProps) {
  return selection.type === 'parcel' ? (
    <ParcelPanel key={`${selection.x},${selection.y}`} x={selection.x} y={selection.y} {...panel} />
  ) : (
    <EstatePanel key={selection.id} id={selection.id} {...panel} />
  )
}
