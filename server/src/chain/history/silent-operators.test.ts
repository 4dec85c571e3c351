import { expect, test } from 'vitest'
import { MemoryRows } from '../../land/events/memory-rows.ts'
import { emptyEstate, emptyParcel } from '../../land/events/new-rows.ts'
import type { RawLog } from '../chain-types.ts'
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

async function readFrom(
  rows: MemoryRows,
  network: typeof MAINNET,
  returned: string,
  { unsettled = [], logged = [] }: { unsettled?: readonly RawLog[]; logged?: readonly string[] } = {},
) {
  const asked: string[] = []
  const shown: string[] = []
  const count = await readSilentOperators(rows, {
    network,
    read: async ({ to, data }) => {
      asked.push(`${to} ${BigInt(`0x${data.slice(10)}`)}`)
      return { returned, unsettled }
    },
    isLogged: ({ id }) => logged.includes(id),
    callsInFlight: 4,
    signal: new AbortController().signal,
    onProgress: (done, total) => shown.push(`${done} of ${total}`),
  })
  return { asked, count, shown }
}

const WORD = `0x${OPERATOR.slice(2).padStart(64, '0')}`

test('update operators that no log tells are read from the registries, of assets that were not transferred since', async () => {
  const rows = someRows()
  const { asked, count, shown } = await readFrom(rows, MAINNET, WORD)

  expect(count).toBe(2)
  expect(shown).toEqual(['1 of 2', '2 of 2'])
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
  await readFrom(rows, MAINNET, '0x') // A contract of the time before the function.
  expect(rows.rowsOf('parcel').map((row) => row.update_operator)).toEqual([null, null])
  expect((await readFrom(rows, SEPOLIA, '0x')).asked).toEqual([])
})

test('an asset whose update operator logs know is not asked for', async () => {
  const { asked } = await readFrom(someRows(), MAINNET, WORD, { logged: ['1,0'] })
  expect(asked).toEqual([`${MAINNET.contracts.EstateRegistry!.address} 7`])
})

test('what a block that is not final has set is not believed', async () => {
  const topic = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`
  const updateOperator = '0x9d9dd80a56a16f715df6eb40b771e24ff8cbea6eed9de28473ce0f28fe5602a9'
  const log: RawLog = {
    address: MAINNET.contracts.LANDRegistry.address,
    topics: [updateOperator, topic(2n ** 128n), topic(BigInt(OPERATOR))],
    data: '0x',
    blockNumber: 9_000_000,
    blockHash: '0x',
    txHash: '0x',
    txIndex: 0,
    logIndex: 0,
    blockTimeS: undefined,
  }
  const rows = someRows()
  await readFrom(rows, MAINNET, WORD, { unsettled: [log] })
  expect(rows.rowsOf('parcel').map((row) => row.update_operator)).toEqual([null, null])
  expect(rows.rowsOf('estate').map((row) => row.update_operator)).toEqual([OPERATOR])
})
