import { type Coord, coordText, decodeTokenId } from '@landpass/client/grid'
import { estateFingerprint, estateFingerprintV2, registryOrder } from '../../land/events/fingerprints.ts'
import type { CheckedEstate } from '../../land/queries/checked-land.ts'
import { nobodyIfZero } from '../meaning/addresses.ts'
import { checkHolder, checkRights, checkText } from './check-asset.ts'
import { checkBids } from './check-bids.ts'
import { type CheckContext, type Token, tokenOf } from './check-context.ts'
import { checkPublications } from './check-publications.ts'
import { FUNCTIONS } from './contract-functions.ts'

/** Compares an estate, its parcels, and what is offered for it, with the contracts. */
export async function checkEstate(context: CheckContext, row: CheckedEstate): Promise<void> {
  const { network, state, findings, rows } = context
  const token = tokenOf(network, { type: 'estate', id: row.id })
  // Estates are never burned: the registry refuses only numbers that it has not given yet.
  const ownerOf = token && (await state.tryToRead(token.registry, FUNCTIONS.ownerOf, token.id))
  if (!token || ownerOf === undefined) {
    findings.compare({ asset: `estate ${row.id}`, field: 'id' }, { table: row.id, contract: null })
    return
  }
  const { asset, registry, id } = token
  const holder = nobodyIfZero(ownerOf)
  const [fingerprint, second, text] = await Promise.all([
    state.read(registry, FUNCTIONS.getFingerprint, id),
    state.tryToRead(registry, FUNCTIONS.getFingerprintV2, id),
    state.tryToRead(registry, FUNCTIONS.getMetadata, id),
  ])
  const members = rows.membersOf(row.id)
  const ofMembers = estateFingerprint(row.id, members)
  findings.compare(
    { asset, field: 'fingerprint' },
    { table: row.fingerprint ?? ofMembers, contract: fingerprint },
  )
  // Registries before 2026 have no second one.
  const inOrder = registryOrder(row, members)
  if (second !== undefined && ofMembers === fingerprint)
    findings.compare(
      { asset, field: 'fingerprint_v2' },
      { table: estateFingerprintV2(row.id, inOrder), contract: second },
    )
  checkText(context, { asset, row, text })
  await Promise.all([
    checkHolder(context, { token, row, holder }).then((owner) =>
      checkBids(context, { token, owner, estate: { id: row.id, fingerprint, parcels: inOrder } }),
    ),
    checkPublications(context, { token, holder }),
    checkRights(context, { asset, row, registry: 'estate', holder }),
    checkMembers(context, { token, members, isSame: ofMembers === fingerprint }),
  ])
}

/**
 * Compares which parcels an estate has.
 *
 * @param isSame whether the fingerprint says so: then the registry is not asked for each parcel
 */
async function checkMembers(
  { state, findings, lists }: CheckContext,
  {
    token,
    members,
    isSame,
  }: { readonly token: Token; readonly members: readonly Coord[]; readonly isSame: boolean },
): Promise<void> {
  const { asset, registry, id } = token
  const size = await state.read(registry, FUNCTIONS.getEstateSize, id)
  const inTable = members.map(coordText)
  findings.compare({ asset, field: 'size' }, { table: inTable.length, contract: size })
  if (isSame && size === BigInt(inTable.length)) return
  if (!lists.take(size)) return
  const ids = await Promise.all(
    Array.from({ length: Number(size) }, (_, at) =>
      state.read(registry, FUNCTIONS.estateLandIds, id, BigInt(at)),
    ),
  )
  const inContract = ids.map((parcelId) => {
    const coord = decodeTokenId(parcelId)
    return coord ? coordText(coord) : String(parcelId)
  })
  const [table, contract] = [new Set(inTable), new Set(inContract)]
  for (const parcel of inTable)
    if (!contract.has(parcel))
      findings.compare({ asset, field: 'parcels' }, { table: parcel, contract: null })
  for (const parcel of inContract)
    if (!table.has(parcel)) findings.compare({ asset, field: 'parcels' }, { table: null, contract: parcel })
}
