import type { Publication } from '@landpass/client'
import { expect, test } from 'vitest'
import { findCheapestOffer, historyRows } from './history-rows.ts'

const NOW = 1_000
const offer = (name: string, madeMs: number, facts: Partial<Publication> = {}) =>
  ({
    ...{ tx_hash: name, status: 'open', price: 5, expires_at: NOW + 1, block_time_created_at: madeMs },
    ...facts,
  }) as Publication

test('publications come with what was signed off the chain and cannot be accepted, newest first', () => {
  const publications = [
    offer('stored', 9, { status: 'sold' }),
    offer('over', 5, { expires_at: NOW }),
    offer('signed', 3, { trade_id: 'a', source: 'trade' }),
  ]
  const signed = { source: 'trade', currency: 'mana' } as const
  const offers = [
    offer('over', 5, { state: 'expired', trade_id: null }),
    offer('signed', 3, { ...signed, trade_id: 'a', state: 'open' }),
    offer('moved', 7, { ...signed, trade_id: 'b', state: 'owner_changed', status: 'cancelled' }),
    offer('cancelled', 6, { ...signed, trade_id: 'c', state: 'cancelled', status: 'cancelled' }),
    offer('bought', 4, { ...signed, trade_id: 'd', state: 'used', status: 'sold' }),
    offer('dollars', 2, {
      ...signed,
      trade_id: 'e',
      state: 'open',
      currency: 'usd',
      price: 0,
      price_usd: '99',
    }),
  ]

  const rows = historyRows(publications, offers, NOW)

  expect(rows.map(({ offer: { tx_hash }, state, price }) => [tx_hash, state, price])).toEqual([
    ['stored', 'sold', 5],
    ['moved', 'refused', 5],
    ['cancelled', 'cancelled', 5],
    ['over', 'expired', 5],
    ['signed', 'open', 5],
    ['dollars', 'open', undefined],
  ])
})

test('of the offers that can be accepted the cheapest in MANA stands for the land, the newest of equal ones, else one in dollars', () => {
  const inMana = (name: string, price: number, madeMs: number, state: 'open' | 'paused' = 'open') =>
    offer(name, madeMs, { currency: 'mana', price, state })
  const inDollars = (name: string, price_usd: string, state: 'open' | 'paused') =>
    offer(name, 1, { currency: 'usd', price: 0, price_usd, state })
  const offersInDollars = [
    inDollars('dear', '100', 'open'),
    inDollars('cheap', '99.5', 'open'),
    inDollars('paused', '1', 'paused'),
  ]
  const offersInMana = [
    inMana('newest', 1_000, 9),
    inMana('older', 900, 2),
    inMana('newer', 900, 3),
    inMana('paused', 1, 4, 'paused'),
  ]

  expect(findCheapestOffer([...offersInDollars, ...offersInMana])?.tx_hash).toBe('newer')
  expect(findCheapestOffer(offersInDollars)?.tx_hash).toBe('cheap')
  expect(findCheapestOffer(offersInMana.slice(3))).toBeUndefined()
})
