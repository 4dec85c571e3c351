import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { type LandFilter, onePlace } from '../state/land-filter.ts'

let watches: typeof import('./watches.ts')

beforeAll(async () => {
  const kept = JSON.stringify([{ filters: 'asset_type=estate&nw=3,4&se=3,4', known: [] }])
  vi.stubGlobal('localStorage', { getItem: (key: string) => (key === 'landpass.watched' ? kept : null) })
  vi.stubGlobal('navigator', { onLine: true, languages: ['en'] })
  vi.stubGlobal('window', new EventTarget())
  watches = await import('./watches.ts')
})
afterAll(() => vi.unstubAllGlobals())

test('an estate is watched by any of its parcels, and not by a parcel of its own', () => {
  const estateAt = (x: number): LandFilter => ({ asset_type: 'estate', ...onePlace({ x, y: 4 }) })

  expect(watches.findWatched([estateAt(2), estateAt(3)])).toEqual(estateAt(3))
  expect(watches.findWatched([estateAt(2), estateAt(4)])).toBeUndefined()
  expect(watches.findWatched([onePlace({ x: 3, y: 4 })])).toBeUndefined()
})
