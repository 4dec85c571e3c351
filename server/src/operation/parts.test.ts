import { describe, expect, test } from 'vitest'
import { type Findings, PARTS, partsOf } from './parts.ts'

const FINE: Findings = {
  database: { problem: null, connections: 3, queriesWaiting: 0 },
  land: { revision: 7 },
  chain: { block: 30, ageS: 12, isFollowing: true },
  offers: { ageS: 40, isFollowing: true },
  attendance: { isConfigured: true },
  issuer: { all: 100, failed: 10 },
  presence: { all: 100, failed: 20 },
  events: { waiting: 0, held: 0 },
  limits: { refused: 0, shed: 0 },
}

test('a server where all is well is good in every part', () => {
  const parts = partsOf(FINE)

  expect(parts.map(({ part }) => part)).toEqual([...PARTS])
  for (const { condition, problem } of parts) expect([condition, problem]).toEqual(['good', null])
  expect(parts[2]).toMatchObject({ part: 'chain', facts: { block: 30, age_s: 12 } })
})

test('what a server does not have is off', () => {
  const nothing = {
    chain: undefined,
    offers: undefined,
    attendance: undefined,
    issuer: undefined,
    presence: undefined,
    events: undefined,
  }
  const off = partsOf({ ...FINE, ...nothing }).filter(({ condition }) => condition === 'off')

  expect(off.map(({ part }) => part)).toEqual([
    'chain',
    'offers',
    'attendance',
    'issuer',
    'presence',
    'events',
  ])
})

test('what nothing was asked of is unknown, and not good', () => {
  const none = { all: 0, failed: 0 }
  const offers = { ageS: undefined, isFollowing: true }
  const unknown = partsOf({ ...FINE, issuer: none, presence: none, offers }).filter(
    ({ condition, problem }) => condition === 'unknown' && problem === null,
  )

  expect(unknown.map(({ part }) => part)).toEqual(['offers', 'issuer', 'presence'])
})

describe('each problem has a part and a condition', () => {
  test.each<[string, string, string, Partial<Findings>]>([
    ['database', 'bad', 'database_full', { database: { ...FINE.database, problem: 'database_full' } }],
    ['database', 'look', 'queries_wait', { database: { ...FINE.database, queriesWaiting: 1 } }],
    ['land', 'bad', 'world_not_loaded', { land: { revision: undefined }, chain: undefined }],
    ['land', 'bad', 'world_waits', { land: { revision: undefined }, chain: 'empty' }],
    ['chain', 'bad', 'chain_not_read', { chain: 'empty' }],
    ['chain', 'look', 'chain_not_read', { chain: 'reading' }],
    ['chain', 'unknown', 'not_read', { chain: 'unread' }],
    ['offers', 'unknown', 'not_read', { offers: 'unread' }],
    ['events', 'unknown', 'not_read', { events: 'unread' }],
    ['chain', 'look', 'chain_stopped', { chain: { block: 1, ageS: 1, isFollowing: false } }],
    ['chain', 'look', 'chain_old', { chain: { block: 1, ageS: 1_801, isFollowing: true } }],
    ['offers', 'look', 'offers_stopped', { offers: { ageS: undefined, isFollowing: false } }],
    ['attendance', 'bad', 'attendance_not_configured', { attendance: { isConfigured: false } }],
    ['issuer', 'look', 'issuer_fails', { issuer: { all: 100, failed: 11 } }],
    ['presence', 'look', 'presence_unknown', { presence: { all: 100, failed: 21 } }],
    ['events', 'look', 'events_held', { events: { waiting: 2, held: 1 } }],
    ['events', 'look', 'events_wait', { events: { waiting: 2, held: 0 } }],
    ['limits', 'look', 'requests_refused', { limits: { refused: 1, shed: 0 } }],
    ['limits', 'look', 'requests_shed', { limits: { refused: 1, shed: 1 } }],
  ])('%s is %s: %s', (part, condition, problem, found) => {
    expect(partsOf({ ...FINE, ...found }).find((one) => one.part === part)).toMatchObject({
      condition,
      problem,
    })
  })

  test('but a few calls say nothing', () => {
    const parts = partsOf({ ...FINE, issuer: { all: 9, failed: 9 }, presence: { all: 9, failed: 9 } })
    expect(parts.every(({ condition }) => condition === 'good')).toBe(true)
  })
})
