import { expect, test } from 'vitest'
import { RecentVersions } from './recent-versions.ts'

const version = (revision: number, lastExpiryMs = 0) => ({ origin: 'a', revision, lastExpiryMs })

test('the revisions before the first state are kept, later only states that were noted', () => {
  const recent = new RecentVersions(4)
  recent.note(version(10))

  expect([6, 7, 8, 9, 10, 11].filter((revision) => recent.has(version(revision)))).toEqual([7, 8, 9, 10])
  expect(recent.has(version(9, 1))).toBe(false)
  expect(recent.has({ ...version(9), origin: 'b' })).toBe(false)

  recent.note(version(12))
  recent.note(version(12))
  recent.note(version(12, 5))
  expect([8, 9, 10, 11, 12].filter((revision) => recent.has(version(revision)))).toEqual([9, 10, 12])
  expect(recent.has(version(12, 5))).toBe(true)
})

test('the first state of a new database has no revisions before it', () => {
  const recent = new RecentVersions(4)
  recent.note(version(1))

  expect([-2, -1, 0, 1].filter((revision) => recent.has(version(revision)))).toEqual([0, 1])
})
