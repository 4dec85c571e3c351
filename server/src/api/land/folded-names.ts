import { foldText } from '../common/fold.ts'
import type { LandView } from './land-view.ts'

/** By so many characters names are sorted. */
const SORTED_LENGTH = 100

type Names = readonly (string | undefined)[]

/** The folded names of the last state, of parcels and of estates. Names that did not change are not folded again. */
const latest: Record<'parcels' | 'estates', { names: Names; folded: Names }> = {
  parcels: { names: [], folded: [] },
  estates: { names: [], folded: [] },
}

/** The name of an asset as it is sorted; undefined where it has none. */
export function foldedName(view: LandView, asset: number): string | undefined {
  const { estates } = view.assets
  return asset < estates
    ? foldedOf('estates', view.estates.names)[asset]
    : foldedOf('parcels', view.parcels.names)[asset - estates]
}

function foldedOf(kind: 'parcels' | 'estates', names: Names): Names {
  const before = latest[kind]
  if (before.names === names) return before.folded
  const folded = names.map((name, row) => {
    if (name === undefined) return undefined
    return before.names[row] === name ? before.folded[row] : foldText(name).slice(0, SORTED_LENGTH)
  })
  latest[kind] = { names, folded }
  return folded
}
