import { createHash } from 'node:crypto'
import { SimulatedChain } from '@landpass/simulators/chain/blocks/chain'
import { networkFile } from '@landpass/simulators/chain/contracts/contracts'
import { logsOf } from '@landpass/simulators/chain/node/log-filter'
import { expect, test } from 'vitest'
import { EXAMPLE_LOGS, EXAMPLE_NETWORK } from '../../../test/support/chain/chain-examples.ts'
import { SECOND_MS } from '../../clock.ts'
import { applyEvent } from '../../land/events/apply-event.ts'
import type { LandFact, LoanTerms } from '../../land/events/land-event.ts'
import { type EventTable, KEY_COLUMNS } from '../../land/events/land-rows.ts'
import { MemoryRows } from '../../land/events/memory-rows.ts'
import type { Network, RawLog } from '../chain-types.ts'
import { landEventsOf } from '../meaning/land-events-of.ts'
import { ruleContextOf } from '../meaning/rule-context-of.ts'
import { parseNetwork } from '../networks/parse-network.ts'
import { readLogsOfBlock } from '../rpc/node-answers.ts'
import { RULES_VERSION } from './rules-version.ts'

const BOUNDS = { minX: -3, minY: -3, maxX: 3, maxY: 3 }
const CHAIN = {
  chainId: 1337,
  seed: 1,
  world: { areas: [BOUNDS], bounds: BOUNDS },
  historyBlocks: 500,
  headTimeS: 1_770_000_000,
  transactionsPerBlock: 4,
}
const TERMS: LoanTerms = {
  amountWei: 900n * 10n ** 18n,
  interestRate: 51_840_000_000n,
  punitoryInterestRate: 44_434_285_714n,
  duesInS: 7_776_000n,
  cancelableAtS: 604_800n,
  expiresAt: 4_102_444_800_000n,
}

interface TimedLog {
  readonly log: RawLog
  readonly timeMs: number
}

/** A kind of event that is missing here does not compile, and one that is not in the logs fails. */
const KINDS: Readonly<Record<LandFact['kind'], true>> = {
  'asset-transferred': true,
  'asset-described': true,
  'operator-set': true,
  'update-operator-set': true,
  'asset-rented': true,
  'rent-ended': true,
  'parcels-auctioned': true,
  'approval-for-all-set': true,
  'update-manager-set': true,
  'estate-created': true,
  'parcel-joined-estate': true,
  'parcel-left-estate': true,
  'listing-opened': true,
  'listing-sold': true,
  'listing-cancelled': true,
  'bid-placed': true,
  'bid-accepted': true,
  'bid-cancelled': true,
  'mortgage-requested': true,
  'mortgage-started': true,
  'mortgage-cancelled': true,
  'mortgage-claimed': true,
  'mortgage-defaulted': true,
  'loan-lent': true,
  'loan-transferred': true,
  'loan-partly-paid': true,
  'loan-paid': true,
  'loan-pardoned': true,
  'loan-terms-read': true,
  'asset-traded': true,
  'signature-cancelled': true,
  'signature-used': true,
  'signature-index-raised': true,
  'asset-index-raised': true,
  'marketplace-paused': true,
}

test('the same logs give the same rows as before: otherwise raise RULES_VERSION', async () => {
  const recorded = await apply({ network: EXAMPLE_NETWORK, logs: EXAMPLE_LOGS })
  const simulated = await apply(await simulatedChain())

  expect([...new Set([...recorded.kinds, ...simulated.kinds])].sort()).toEqual(Object.keys(KINDS).sort())
  // With other rows and the same number, a world that older rules made would be followed further by the new ones. Where
  // only the columns, or the logs of this test have changed, write down the hash alone.
  expect([RULES_VERSION, recorded.hash, simulated.hash]).toEqual([1, '96b3949bd2054c90', '4c5772de8a9ee70b'])
})

/** Applies what the logs mean, and at last what no log of these chains says. */
async function apply({ network, logs }: { readonly network: Network; readonly logs: readonly TimedLog[] }) {
  const rows = new MemoryRows()
  const kinds = new Set<string>()
  const context = ruleContextOf(network)
  for (const { log, timeMs } of logs) {
    const meaning = landEventsOf(network, log, timeMs)
    for (const event of meaning.outcome === 'events' ? meaning.events : []) {
      kinds.add(event.kind)
      await applyEvent(rows, event, context)
      if (event.kind !== 'mortgage-requested') continue
      // No log has them: they are read from the contract.
      const { at, loanId } = event
      await applyEvent(rows, { at, kind: 'loan-terms-read', loanId, terms: TERMS }, context)
      kinds.add('loan-terms-read')
    }
  }
  return { kinds, hash: hashOf(rows) }
}

/** Years of a made-up chain with all contracts, whose players do everything that these allow. */
async function simulatedChain() {
  const chain = new SimulatedChain(CHAIN)
  await chain.makeHistory()
  const file = networkFile(CHAIN.chainId, { eras: chain.machine.eras, contracts: chain.contracts, first: 1 })
  const parsed = parseNetwork('test', file)
  if ('mistakes' in parsed) throw new Error(parsed.mistakes[0])
  const { network } = parsed
  const addresses = new Set(Object.values(network.contracts).map(({ address }) => address))
  const logs: TimedLog[] = []
  for (let number = 1; number <= chain.head.number; number++) {
    const block = chain.block(number)!
    const read = readLogsOfBlock(logsOf(block, { addresses, topics: [] }, true), block.hash, addresses)
    logs.push(...read.map((log) => ({ log, timeMs: block.timeS * SECOND_MS })))
  }
  return { network, logs }
}

function hashOf(rows: MemoryRows): string {
  const hash = createHash('sha256')
  const text = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)
  for (const table of Object.keys(KEY_COLUMNS) as EventTable[])
    hash.update(JSON.stringify(rows.rowsOf(table), text))
  return hash.digest('hex').slice(0, 16)
}
