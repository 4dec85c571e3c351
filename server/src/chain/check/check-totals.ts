import type { LandTotals } from '../../land/queries/checked-land.ts'
import type { CheckContext } from './check-context.ts'
import { FUNCTIONS } from './contract-functions.ts'
import { COLUMN_OF_RIGHT } from './known-rights.ts'

/** At most so many estates that the tables do not have are named: a node may answer any number of them. */
const MOST_NAMED = 1_000

/** Compares the rights over all land of an owner that the table of rights has. Others are not known to any list. */
export async function checkRightRows({ rows, rights, findings }: CheckContext): Promise<void> {
  await Promise.all(
    rows.land.rights.map(async (right) => {
      const { kind, registry, owner, operator } = right
      if (await rights.isGranted(right)) return
      const asset = `${registry}s of ${owner}`
      findings.compare(
        { asset, field: `right.${COLUMN_OF_RIGHT[kind]}` },
        { table: operator, contract: null },
      )
    }),
  )
}

/** Compares how many parcels and estates there are, and names the first estates that the tables do not have. */
export async function findMissingAssets(
  { network, state, findings }: CheckContext,
  { ownedParcels, estateIds }: LandTotals,
): Promise<void> {
  const { LANDRegistry, EstateRegistry } = network.contracts
  findings.compare(
    { asset: 'all parcels', field: 'count' },
    { table: ownedParcels, contract: await state.read(LANDRegistry.address, FUNCTIONS.totalSupply) },
  )
  if (!EstateRegistry) return
  const total = await state.read(EstateRegistry.address, FUNCTIONS.totalSupply)
  findings.compare({ asset: 'all estates', field: 'count' }, { table: estateIds.length, contract: total })
  // Their numbers are 1, 2, 3 … and none is ever taken away.
  const known = new Set(estateIds)
  for (let [number, named] = [1, 0]; number <= total && named < MOST_NAMED; number++) {
    if (known.has(String(number))) continue
    findings.compare({ asset: `estate ${number}`, field: 'id' }, { table: null, contract: number })
    named += 1
  }
}
