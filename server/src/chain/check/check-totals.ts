import type { LandTotals } from '../../land/queries/checked-land.ts'
import type { CheckContext } from './check-context.ts'
import { FUNCTIONS } from './contract-functions.ts'
import { COLUMN_OF_RIGHT } from './known-rights.ts'

/** Estates. A larger number than this is no answer of the registry. */
const MOST_ESTATES = 10_000_000n

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

/** Compares how many parcels and estates there are, and names the estates that the tables do not have. */
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
  if (total > MOST_ESTATES) return
  // Their numbers are 1, 2, 3 … and none is ever taken away.
  const known = new Set(estateIds)
  for (let number = 1; number <= Number(total); number++)
    if (!known.has(String(number)))
      findings.compare({ asset: `estate ${number}`, field: 'id' }, { table: null, contract: number })
}
