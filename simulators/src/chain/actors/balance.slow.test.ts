import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAINNET } from '@landpass/server/chain/networks/known-networks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeDemoSnapshot } from '../../demo/write-snapshot.ts'
import { StateHistory } from '../contracts/cells.ts'
import { Contracts } from '../contracts/contracts.ts'
import { erasOf } from '../contracts/eras.ts'
import { Machine } from '../contracts/machine.ts'
import { ASSET_TYPE } from '../contracts/trades.ts'
import { runCalls } from '../contracts/transactions.ts'
import type { Address, Word } from '../encoding/words.ts'
import { loadContracts } from '../snapshot/load-contracts.ts'
import { countOf } from './balance.ts'
import { Players } from './players.ts'
import { SignedOffers } from './signed-offers.ts'

const ADDRESSES = Object.fromEntries(
  Object.entries(MAINNET.contracts).map(([role, { address }]) => [role, address]),
)
/** The parcels of the demo world of `npm start`, and the pace of its players. */
const PARCELS_OF_DEMO = 70_488
const DEEDS_PER_HOUR = 2 * 720
const HOUR_S = 3_600
const START_S = Date.UTC(2026, 0, 15) / 1_000
let snapshot: string

beforeAll(async () => {
  snapshot = mkdtempSync(join(tmpdir(), 'landpass-balance-'))
  await writeDemoSnapshot(1, snapshot, undefined, { radius: 20 })
})
afterAll(() => rmSync(snapshot, { recursive: true }))

test.each([
  { pace: 1, days: 7 },
  { pace: 20, days: 1 },
])(
  '$days days at $pace times the usual pace leave as much for sale, bid for and in estates as there was',
  async ({ pace, days }) => {
    const machine = new Machine(erasOf(0), new StateHistory(0, 1))
    machine.timeS = START_S
    const contracts = new Contracts(machine, ADDRESSES)
    const { districtOwners } = await loadContracts(snapshot, contracts)
    // A world of a hundredth of the land, with a hundredth of the deeds.
    const average = (pace * DEEDS_PER_HOUR * contracts.land.total()) / PARCELS_OF_DEMO
    const parts = { seed: 5, chainId: 1337, contracts, machine, average, world: undefined, districtOwners }
    const players = new Players(parts)
    const { rentals: _, ...start } = players.countsAtStart
    const failed: string[] = []
    let sent = 0

    for (let hour = 1; hour <= 24 * days; hour++) {
      machine.beginBlock(START_S + hour * HOUR_S)
      players.sendTransactions(0, (transaction) => {
        const outcome = machine.run(() => runCalls(transaction))
        if (!outcome.isSuccess) failed.push(transaction.calls.map(({ method }) => method).join())
        sent += 1
        return outcome
      })
      const { rentals, ...now } = countOf(contracts, machine.timeS)
      expect(rentals).toBeLessThan(50)
      for (const [name, count] of Object.entries(start) as [keyof typeof start, number][])
        expect(
          Math.abs(now[name] - count),
          `${name} in hour ${hour}: ${now[name]}, not ${count}`,
        ).toBeLessThanOrEqual(Math.ceil(count / 5))
    }

    // Also after an index was raised, which cancels what was signed before
    const [, market] = contracts.trades
    const offers = new SignedOffers(parts).openAt(machine.timeS)
    expect(offers.length).toBeGreaterThan(0)
    for (const { owner, json } of offers)
      expect(json.checks).toMatchObject({
        contractSignatureIndex: market.contractIndex(),
        signerSignatureIndex: market.signerIndex(owner),
      })
    // Nobody bids as much as they could buy it for
    const { market: orders, bids, land, estates } = contracts
    orders.orders.forEach((key, { seller, priceWei, expiresAt }) => {
      const [address, id] = key.split(' ') as [Address, Word]
      const { [address]: token } = { [land.address]: land, [estates.address]: estates }
      if (token?.ownerOf(id) === seller && expiresAt > machine.timeS)
        expect(bids.highest(address, id), key).toBeLessThan(priceWei)
    })
    for (const { token, id, json } of offers)
      if (json.received[0].assetType !== ASSET_TYPE.dollars)
        expect(bids.highest(token.address, id)).toBeLessThan(BigInt(json.received[0].amount))
    expect(failed).toEqual([])
    expect(sent).toBeGreaterThan(24 * days * average)
  },
)
