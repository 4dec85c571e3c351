import { SAMPLE_KINDS, type SampleKind } from '../../land/queries/land-sample.ts'
import type { AssetName } from '../../land/records/assets.ts'

/**
 * Some parcels and estates of each kind: one of each kind in turn, until there are enough, so that kinds with few assets are
 * seen in a small sample. Each asset is chosen once.
 *
 * @example
 * chooseSample({ any: [a, b], listed: [b], estate: [], … }, 2) // [a, b]
 */
export function chooseSample(
  kinds: Readonly<Record<SampleKind, readonly AssetName[]>>,
  size: number,
): readonly AssetName[] {
  const chosen = new Map<string, AssetName>()
  const most = Math.max(...SAMPLE_KINDS.map((kind) => kinds[kind].length))
  for (let at = 0; at < most; at++) {
    for (const kind of SAMPLE_KINDS) {
      const asset = kinds[kind][at]
      if (asset && chosen.size < size) chosen.set(nameOf(asset), asset)
    }
  }
  return [...chosen.values()]
}

function nameOf({ type, id }: AssetName): string {
  return `${type} ${id}`
}
