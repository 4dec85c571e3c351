import Type from 'typebox'
import { addressText, assetFields, closedObject } from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'

const reason = Type.String({
  description:
    "owner, tenant, operator, update_operator, approved by an owner or update_manager of an owner, also estate's …; or why not.",
})
const why = shapeRef('RightReason')
const over = (description: string) => Type.Array(shapeRef('RightOver'), { description })

const ofAddress = closedObject(
  {
    owns: over('What it owns, rented land as the lessor.'),
    lets: over('What it lets to a tenant now.'),
    rents: over('What it rents now.'),
    operates: over('What it may transfer, one by one.'),
    may_update: over('Where it may deploy, with the first reason. An estate stands for its parcels.'),
    manages: over('What it may deploy on for an owner, with all of its land.'),
    approved_for_all: over('What an owner approved it for, with all of its land.'),
  },
  'Every right of an address.',
)

const ofAsset = closedObject(
  {
    ...assetFields(),
    who: Type.Array(closedObject({ address: addressText(), why }, 'A right.'), {
      description: 'Who may deploy there, the strongest right first.',
    }),
    address: Type.Optional(addressText('With address=: whom it is about.')),
    may_update: Type.Optional(Type.Boolean({ description: 'With address=: whether it may deploy there.' })),
    why: Type.Optional(why),
  },
  'Who may deploy at an asset.',
)

const ofPlaces = closedObject(
  {
    address: addressText(),
    places: Type.Array(
      closedObject(
        { place: Type.String(), may_update: Type.Boolean(), why },
        'A place of the request, in its order.',
      ),
    ),
  },
  'Where an address may deploy.',
)

const right = closedObject({ ...assetFields(), why }, 'A right over an asset.')

/** Named schemas of openapi.json. */
export const RIGHTS_SHAPES = {
  RightReason: reason,
  RightOver: right,
  AddressRights: ofAddress,
  AssetRights: ofAsset,
  PlaceRights: ofPlaces,
} as const

export const addressRightsSchema = shapeRef('AddressRights')
export const assetRightsSchema = shapeRef('AssetRights')
export const placeRightsSchema = shapeRef('PlaceRights')
