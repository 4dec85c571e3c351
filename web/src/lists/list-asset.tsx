import type { AssetType } from '@landpass/client'
import { findName } from '../asset/asset-names.ts'
import { showAsset } from '../state/travel.ts'
import { text } from '../texts/texts.ts'

export interface ListAssetProps {
  readonly type: AssetType
  /** `x,y` of a parcel, the number of an estate. */
  readonly id: string
  readonly name?: string | undefined
}

/** The asset of a row. A press selects it and moves the map there. */
export function ListAsset({ type, id, name }: ListAssetProps) {
  const kind =
    type === 'parcel' ? text('asset.parcel.numbered', { id }) : text('asset.estate.numbered', { id })
  const given = findName(name)
  return (
    <button type="button" class="list-asset" onClick={() => showAsset(type, id)}>
      <bdi class="list-asset-name">{given ?? kind}</bdi>
      {given !== undefined && <span class="list-asset-kind">{kind}</span>}
    </button>
  )
}
