import { expect, test } from 'vitest'
import { MemoryRows } from '../../land/events/memory-rows.ts'
import { emptyEstate, emptyParcel } from '../../land/events/new-rows.ts'
import { MAINNET, SEPOLIA } from '../networks/known-networks.ts'
import { readSilentOperators } from './silent-operators.ts'

const OPERATOR = `0x${'ab'.repeat(20)}`

/** A parcel and an estate of early 2018, and a parcel that was transferred later. */
function someRows(): MemoryRows {
  const rows = new MemoryRows()
  const [early, late] = [Date.UTC(2018, 3, 1), Date.UTC(2020, 3, 1)]
  for (const [x, atMs] of [
    [1, early],
    [2, late],
  ] as const)
    rows.put('parcel', { ...emptyParcel({ x, y: 0 }, 0), owner: '0x01', last_transferred_at_ms: atMs })
  rows.put('estate', emptyEstate('7', { blockNumber: 1, timeMs: early, txHash: '0x', logIndex: 0 }))
  return rows
}

async function readFrom(rows: MemoryRows, network: typeof MAINNET, returned: string) {
  const asked: string[] = []
  const count = await readSilentOperators(rows, {
    network,
    read: async (contract, data) => {
      asked.push(`${contract} ${BigInt(`0x${data.slice(10)}`)}`)
      return returned
    },
    callsInFlight: 4,
    signal: new AbortController().signal,
  })
  return { asked, count }
}

test('update operators that no log tells are read from the registries, of assets that were not transferred since', async () => {
  const rows = someRows()
  const { asked, count } = await readFrom(rows, MAINNET, `0x${OPERATOR.slice(2).padStart(64, '0')}`)

  expect(count).toBe(2)
  expect(asked).toEqual([
    `${MAINNET.contracts.LANDRegistry.address} ${2n ** 128n}`,
    `${MAINNET.contracts.EstateRegistry!.address} 7`,
  ])
  expect(rows.rowsOf('parcel').map((row) => row.update_operator)).toEqual([OPERATOR, null])
  expect(rows.rowsOf('estate').map((row) => row.update_operator)).toEqual([OPERATOR])
})

test('nobody is no operator, and networks with later contracts are not asked', async () => {
  const rows = someRows()
  await readFrom(rows, MAINNET, `0x${'0'.repeat(64)}`)
  expect(rows.rowsOf('parcel').map((row) => row.update_operator)).toEqual([null, null])
  expect((await readFrom(rows, SEPOLIA, '0x')).asked).toEqual([])
})
