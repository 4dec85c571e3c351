import fc from 'fast-check'
import { expect, test } from 'vitest'
import { valueAt } from './columns.ts'
import {
  OwnerIndexWriter,
  type Ownership,
  ownerOfRows,
  patchAddresses,
  patchOwnership,
  rowsOfOwner,
} from './owner-index.ts'
import type { OwnerIndex } from './parts.ts'

const owner = fc.constantFrom('ann', 'ben', 'eve', null)

test('an owner’s assets keep the order in which they were added; assets without owner are left out', () => {
  fc.assert(
    fc.property(fc.array(owner), (owners) => {
      const index = ownershipOf(owners, ascending).owners

      const found = index.addresses.map((address, i) => [address, [...rowsOfOwner(index, i)]])
      const names = [...new Set(owners)].filter((one) => one !== null)
      expect(found).toEqual(
        names.map((name) => [name, [...owners.keys()].filter((row) => owners[row] === name)]),
      )
    }),
  )
})

test('after changes of owners each owner has their assets, in the given order', () => {
  const next = fc.constantFrom('ann', 'ben', 'eve', 'new', 'newer', null)
  const changes = fc.array(fc.tuple(fc.nat(), next), { maxLength: 8 })
  fc.assert(
    fc.property(
      fc.array(owner, { minLength: 1 }),
      changes,
      fc.constantFrom(ascending, oddFirst),
      (owners, moves, compare) => {
        const held = ownershipOf(owners, compare)
        const before = contentOf(held)
        const ownerOf = new Map(moves.map(([pick, to]) => [pick % owners.length, to]))

        const patched = patchOwnership(held, ownerOf, compare)

        const after = owners.map((one, row) => (ownerOf.has(row) ? ownerOf.get(row)! : one))
        expect(contentOf(patched)).toEqual(contentOf(ownershipOf(after, compare)))
        expect(contentOf(held)).toEqual(before)
      },
    ),
  )
})

test('an address keeps its index', () => {
  const held = ownershipOf(['ann', 'ben'], ascending)
  const { owners, owner: places } = patchOwnership(held, new Map([[0, 'eve']]), ascending)

  expect(owners.addresses).toEqual(['ann', 'ben', 'eve'])
  expect([0, 1].map((row) => valueAt(places, row))).toEqual([2, 1])
})

test('an asset can stand under several addresses, before and after they changed', () => {
  const list = fc.uniqueArray(fc.constantFrom('ann', 'ben', 'eve', 'new'))
  fc.assert(
    fc.property(
      fc.array(list, { minLength: 1 }),
      fc.array(fc.tuple(fc.nat(), list), { maxLength: 8 }),
      (lists, moves) => {
        const held = indexOf(lists)
        const before = listsOf(held)
        const addressesOf = new Map(moves.map(([pick, to]) => [pick % lists.length, to]))

        const patched = patchAddresses(held, addressesOf)

        const after = lists.map((one, row) => addressesOf.get(row) ?? one)
        expect(listsOf(patched)).toEqual(listsOf(indexOf(after)))
        expect(listsOf(held)).toEqual(before)
      },
    ),
  )
})

test('where nothing has changed it is the same index', () => {
  const held = indexOf([['ann', 'ben'], [], ['ben']])

  expect(
    patchAddresses(
      held,
      new Map([
        [0, ['ben', 'ann']],
        [1, []],
      ]),
    ),
  ).toBe(held)
})

function indexOf(lists: readonly (readonly string[])[]): OwnerIndex {
  const writer = new OwnerIndexWriter()
  for (const [row, list] of lists.entries()) for (const one of list) writer.add(one, row)
  return writer.finish()
}

function listsOf(index: OwnerIndex): unknown {
  return index.addresses
    .map((address, i) => [address, [...rowsOfOwner(index, i)]] as const)
    .filter(([, assets]) => assets.length > 0)
    .sort()
}

function ascending(a: number, b: number): number {
  return a - b
}

function oddFirst(a: number, b: number): number {
  return (b % 2) - (a % 2) || a - b
}

function ownershipOf(
  owners: readonly (string | null)[],
  compare: (a: number, b: number) => number,
): Ownership {
  const writer = new OwnerIndexWriter()
  for (const row of [...owners.keys()].sort(compare)) writer.add(owners[row]!, row)
  const index = writer.finish()
  return { owners: index, owner: ownerOfRows(index, owners.length) }
}

function contentOf({ owners, owner: places }: Ownership): unknown {
  const rows = places.pages.flatMap((page) => [...page])
  return { lists: listsOf(owners), owners: rows.map((place) => owners.addresses[place]) }
}
