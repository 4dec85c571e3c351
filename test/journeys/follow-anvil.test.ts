import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Coord, encodeTokenId } from '@landpass/client/grid'
import { LAYOUTS } from '@landpass/server/chain/logs/layouts'
import type { Db } from '@landpass/server/db/engine'
import { encodeAbi, topicOf } from '@landpass/server/test/support/chain/abi-encoder'
import { type Anvil, findAnvil, startAnvil } from '@landpass/server/test/support/chain/anvil'
import { expectSameRows, followLand, rowsOf } from '@landpass/server/test/support/chain/followed-land'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { expect, test } from 'vitest'

/** The land as a live node has it, with headers, receipts and reorganisations that are not ours. */

const REGISTRY = '0xf87e31492faf9a91b02ee0deaad50d51d56d5d4d'
/**
 * Writes a log: its four topics are the first words of what the contract is sent, its data is the rest. Refuses what is
 * shorter, such as the calls of its functions.
 */
const LOGGER = [
  '36607f10600c57', // goes on where there are four words
  '60006000fd',
  '5b',
  '6080360360806000', // how much data there is; to where, from where …
  '37', // … it is copied
  '606035604035602035600035', // the topics, the last one first
  '608036036000', // length and place of the data
  'a4',
  '00',
].join('')
const NOBODY = `0x${'00'.repeat(20)}`
const ANN = `0x${'a1'.repeat(20)}`
const BEN = `0x${'be'.repeat(20)}`
const DEPTH = 5

const open = freshEngine('postgres')
const openClean = freshEngine('postgres')
const anvil = findAnvil()
if ('reason' in anvil) console.warn(`No live node in this run: ${anvil.reason}`)

test.skipIf('reason' in anvil)(
  'a live node is followed through its history, its head and a reorganisation',
  async () => {
    // The last final block is 16 below the newest one.
    const node = await startAnvil('program' in anvil ? anvil.program : '', '--slots-in-an-epoch', '8')
    await node.call('anvil_setCode', REGISTRY, `0x${LOGGER}`)
    await node.call('evm_setAutomine', false)
    for (let x = 0; x < 12; x++) await mine(node, [transfer(NOBODY, ANN, { x, y: 0 })])
    for (let block = 0; block < 12; block++) await mine(node, [])
    const { db } = await open()
    const chain = chainOf(node)
    const { readHistory, followTo } = await followLand(db, chain)
    await readHistory()
    await followTo(24)
    await mine(node, [transfer(ANN, BEN, { x: 1, y: 0 }), update({ x: 2, y: 0 }, '0,Harbour,,')])
    await mine(node, [transfer(NOBODY, BEN, { x: -1, y: -2 })])
    await followTo(26)
    expect(await ownersOf(db)).toMatchObject({ '0,0': ANN, '1,0': BEN, '-1,-2': BEN })
    expect(await namesOf(db)).toEqual(['Harbour'])

    const other = await asTransaction(node, transfer(ANN, BEN, { x: 3, y: 0 }))
    await node.call('anvil_reorg', DEPTH, [[other, 2]])
    await mine(node, [update({ x: 4, y: 0 }, '0,Lighthouse,,')])
    await followTo(27)

    expect(await ownersOf(db)).toMatchObject({ '0,0': ANN, '1,0': ANN, '3,0': BEN, '-1,-2': null })
    expect(await namesOf(db)).toEqual(['Lighthouse'])
    const { db: clean } = await openClean()
    const again = await followLand(clean, chain)
    await again.readHistory()
    await again.followTo(27)
    expectSameRows(await rowsOf(db), await rowsOf(clean))
  },
)

function chainOf({ url }: Anvil) {
  const network = join(emptyDir(), 'anvil.json')
  const contracts = { LANDRegistry: { address: REGISTRY, startBlock: 1 } }
  const file = { chainId: 31_337, landApprovalForAllArgumentOrderChangesAtBlock: 0, contracts }
  writeFileSync(network, JSON.stringify(file))
  return { address: url, env: { CHAIN_NETWORK: network, WORLD: '-2,-2,11,2', CHAIN_POLL_MS: '100' } }
}

function transfer(from: string, to: string, parcel: Coord): string {
  return logged('Transfer', [topicOf('address', from), topicOf('address', to), assetOf(parcel)])
}

/** The owner's text of a parcel: version, name, description, address of the scene. */
function update(parcel: Coord, text: string): string {
  const data = encodeAbi(['string'], [`0x${Buffer.from(text).toString('hex')}`])
  return logged('Update', [assetOf(parcel), topicOf('address', ANN), topicOf('address', ANN)], data)
}

const assetOf = (parcel: Coord) => topicOf('uint256', encodeTokenId(parcel))

/** What the contract is sent for this log. */
function logged(event: 'Transfer' | 'Update', topics: readonly string[], data = '0x'): string {
  return `0x${[LAYOUTS[event].topic0, ...topics, data].map((hex) => hex.slice(2)).join('')}`
}

async function asTransaction(node: Anvil, data: string) {
  const [from] = (await node.call('eth_accounts')) as string[]
  return { from, to: REGISTRY, data, gas: '0x186a0' }
}

/** A block with these logs. */
async function mine(node: Anvil, logs: readonly string[]): Promise<void> {
  for (const data of logs) await node.call('eth_sendTransaction', await asTransaction(node, data))
  await node.call('evm_mine')
}

async function ownersOf(db: Db): Promise<Readonly<Record<string, string | null>>> {
  const rows = await db.selectFrom('parcel').select(['x', 'y', 'owner']).execute()
  return Object.fromEntries(rows.map(({ x, y, owner }) => [`${x},${y}`, owner]))
}

async function namesOf(db: Db): Promise<readonly (string | null)[]> {
  const rows = await db.selectFrom('parcel').select('name').where('name', 'is not', null).execute()
  return rows.map(({ name }) => name)
}
