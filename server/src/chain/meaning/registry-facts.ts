import type { LandFact, Registry } from '../../land/events/land-event.ts'
import type { AssetName } from '../../land/records/assets.ts'
import type { EventFields } from '../logs/layouts.ts'
import { nobodyIfZero } from './addresses.ts'
import { estateIdOf, estateName, parcelName, parcelOf } from './assets.ts'
import type { Meanings, Source } from './meaning.ts'

/** What the registries of parcels and estates log. */
export const REGISTRY_FACTS: Meanings<
  | 'TransferWithOperatorData'
  | 'TransferWithUserData'
  | 'Transfer'
  | 'Update'
  | 'Approve'
  | 'Approval'
  | 'UpdateOperator'
  | 'AuthorizeOperator'
  | 'ApprovalForAll'
  | 'UpdateManager'
  | 'CreateEstate'
  | 'AddLand'
  | 'RemoveLand'
> = {
  TransferWithOperatorData: transferred,
  TransferWithUserData: transferred,
  Transfer: transferred,

  // LAND logs the text of every parcel, also of one in an estate, where it is changed through the Estate registry.
  Update: ({ assetId, text }, source) => [{ kind: 'asset-described', asset: assetIn(source, assetId), text }],

  Approve: operatorSet,
  Approval: operatorSet,

  UpdateOperator: ({ assetId, operator }, source) => [
    { kind: 'update-operator-set', asset: assetIn(source, assetId), operator: nobodyIfZero(operator) },
  ],

  AuthorizeOperator: ({ holder: owner, operator, isAuthorized: isApproved }, source) =>
    rightSet({ kind: 'approval-for-all-set', registry: registryOf(source), owner, operator, isApproved }),

  ApprovalForAll({ first, second, isAuthorized: isApproved }, source) {
    const [owner, operator] = isOperatorFirst(source) ? [second, first] : [first, second]
    return rightSet({
      kind: 'approval-for-all-set',
      registry: registryOf(source),
      owner,
      operator,
      isApproved,
    })
  },

  UpdateManager: ({ owner, operator, isApproved }, source) =>
    rightSet({ kind: 'update-manager-set', registry: registryOf(source), owner, operator, isApproved }),

  CreateEstate: ({ estateId, owner, text }) => [
    { kind: 'estate-created', estateId: estateIdOf(estateId), owner: nobodyIfZero(owner), text },
  ],

  AddLand: ({ estateId, landId }) => [
    { kind: 'parcel-joined-estate', estateId: estateIdOf(estateId), parcel: parcelOf(landId) },
  ],

  RemoveLand: ({ estateId, landId }) => [
    { kind: 'parcel-left-estate', estateId: estateIdOf(estateId), parcel: parcelOf(landId) },
  ],
}

function transferred({ from, to, assetId }: EventFields<'Transfer'>, source: Source): readonly LandFact[] {
  const asset = assetIn(source, assetId)
  return [{ kind: 'asset-transferred', asset, from: nobodyIfZero(from), to: nobodyIfZero(to) }]
}

function operatorSet({ operator, assetId }: EventFields<'Approval'>, source: Source): readonly LandFact[] {
  return [{ kind: 'operator-set', asset: assetIn(source, assetId), operator: nobodyIfZero(operator) }]
}

type RightFact = Extract<LandFact, { readonly kind: 'approval-for-all-set' | 'update-manager-set' }>

/** A right of nobody is none. */
function rightSet(fact: RightFact): readonly LandFact[] {
  return nobodyIfZero(fact.operator) === null ? [] : [fact]
}

/** The LAND registry changed the order of the arguments of ApprovalForAll when it was upgraded. */
function isOperatorFirst({ role, blockNumber, network }: Source): boolean {
  return role === 'LANDRegistry' && blockNumber <= network.landApprovalForAllArgumentOrderChangesAtBlock
}

function registryOf({ role }: Source): Registry {
  return role === 'EstateRegistry' ? 'estate' : 'parcel'
}

/** A token of the registry that wrote the log. */
function assetIn(source: Source, tokenId: bigint): AssetName {
  return registryOf(source) === 'estate' ? estateName(tokenId) : parcelName(tokenId)
}
