import { expect, test } from 'vitest'
import { type Anvil, findAnvil, startAnvil } from '../../../test/support/chain/anvil.ts'
import { FixedTiming } from '../../../test/support/chain/scripted-node.ts'
import { receiptsRootOf } from '../proofs/receipts-root.ts'
import { connectNodes } from './connect.ts'
import { readLogRanges } from './log-ranges.ts'

/** A contract that writes what it is sent into two logs: one with a topic, one without. */
const EMITTER = '0x6011600c60003960116000f336600060003760ab366000a1366000a000'
const CHAIN_ID = 31_337

const anvil = findAnvil()
if ('reason' in anvil) console.warn(`No live node in this run: ${anvil.reason}`)

test.skipIf('reason' in anvil)(
  'a live node: hashes of headers, roots of receipts, logs by hash and by range, and a reorganisation',
  async () => {
    const chain = await startAnvil('program' in anvil ? anvil.program : '', '--slots-in-an-epoch', '1')
    const emitter = await deploy(chain)
    for (let block = 0; block < 3; block++) await mine(chain, emitter, block + 1)
    const timing = new FixedTiming()
    const nodes = connectNodes({
      urls: [chain.url],
      network: { chainId: CHAIN_ID, contracts: { LANDRegistry: { address: emitter, startBlock: 1 } } },
      timing,
    })

    const { header, node } = await nodes.head()
    expect(header).toMatchObject({ number: 4, isHashChecked: true })
    const { logs } = await nodes.logsOfBlock(header, [emitter])
    expect(
      logs.map(({ data, topics, txIndex, logIndex }) => [data, topics.length, txIndex, logIndex]),
    ).toEqual([
      ['0x0300', 1, 0, 0],
      ['0x0300', 0, 0, 1],
      ['0x0301', 1, 1, 2],
      ['0x0301', 0, 1, 3],
      ['0x0302', 1, 2, 4],
      ['0x0302', 0, 2, 5],
    ])
    expect(receiptsRootOf((await node.receiptsOf(header.hash)) ?? [])).toBe(header.receiptsRoot)
    expect((await nodes.provenLogsOfBlock(header, [emitter])).logs).toEqual(logs)
    expect((await nodes.finalized())?.number).toBeLessThan(4)
    expect(await node.read({ to: emitter, data: '0x' }, header.hash)).toBe('0x')
    expect((await node.headersAt([1, 2, 3, 9])).map((each) => each?.isHashChecked)).toEqual([
      true,
      true,
      true,
      undefined,
    ])
    const read = []
    const options = { fromBlock: 1, toBlock: 4, addresses: [emitter], firstBlocks: 2, timing }
    for await (const range of readLogRanges(nodes, options)) read.push([range.toBlock, range.logs.length])
    expect(read).toEqual([
      [2, 2],
      [4, 10],
    ])
    await expect(
      node.logsOfBlock({ number: 4, hash: `0x${'12'.repeat(32)}` }, [emitter]),
    ).rejects.toMatchObject({
      kind: 'unknown_block',
    })
    await expect(node.logsOfRange({ fromBlock: 9, toBlock: 10 }, [emitter])).rejects.toMatchObject({
      kind: 'beyond_head',
    })

    await chain.call('anvil_reorg', 2, [])

    const other = await nodes.head()
    expect([other.header.number, nodes.status()[0]!.state]).toEqual([4, 'usable'])
    expect(other.header.hash).not.toBe(header.hash)
    expect((await nodes.headerOf(other.header.parentHash))?.number).toBe(3)
    expect((await nodes.logsOfBlock(other.header, [emitter])).logs).toEqual([])
  },
)

async function deploy(chain: Anvil): Promise<string> {
  const [from] = (await chain.call('eth_accounts')) as string[]
  await chain.call('evm_setAutomine', false)
  const hash = await chain.call('eth_sendTransaction', { from, data: EMITTER })
  await chain.call('evm_mine')
  const receipt = (await chain.call('eth_getTransactionReceipt', hash)) as { contractAddress: string }
  return receipt.contractAddress
}

/** A block with this many transactions. */
async function mine(chain: Anvil, to: string, count: number): Promise<void> {
  const [from] = (await chain.call('eth_accounts')) as string[]
  for (let at = 0; at < count; at++) {
    const data = `0x0${count}0${at}`
    await chain.call('eth_sendTransaction', { from, to, data, gas: '0x186a0' })
  }
  await chain.call('evm_mine')
}
