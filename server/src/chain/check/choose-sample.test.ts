import { expect, test } from 'vitest'
import { SAMPLE_KINDS, type SampleKind } from '../../land/queries/land-sample.ts'
import type { AssetName } from '../../land/records/assets.ts'
import { chooseSample } from './choose-sample.ts'

const parcel = (id: string): AssetName => ({ type: 'parcel', id })
const kinds = (found: Partial<Record<SampleKind, readonly AssetName[]>>) =>
  Object.fromEntries(SAMPLE_KINDS.map((kind) => [kind, found[kind] ?? []])) as Record<SampleKind, AssetName[]>

test('takes one of each kind in turn, each asset once, until there are enough', () => {
  const any = ['1,1', '2,2', '3,3', '4,4'].map(parcel)
  const listed = [parcel('2,2'), parcel('5,5')]
  const estate: AssetName = { type: 'estate', id: '7' }

  expect(chooseSample(kinds({ any, listed, estate: [estate] }), 5)).toEqual([
    parcel('1,1'),
    estate,
    parcel('2,2'),
    parcel('5,5'),
    parcel('3,3'),
  ])
  expect(chooseSample(kinds({ any, listed }), 100)).toHaveLength(5)
  expect(chooseSample(kinds({}), 3)).toEqual([])
})
