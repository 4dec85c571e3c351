import Type from 'typebox'
import { closedObject, oneOf } from '../../schema-parts.ts'
import { shapeRef } from '../common/schemas.ts'

const tokenMetadata = closedObject(
  {
    id: Type.String({ pattern: '^\\d+$', description: 'Token id, in decimal digits.' }),
    name: Type.String(),
    description: Type.String({ description: 'May be empty.' }),
    image: Type.String({ format: 'uri' }),
    external_url: Type.String({ format: 'uri', description: 'A page about the token.' }),
    attributes: Type.Array(
      closedObject(
        {
          trait_type: oneOf(['X', 'Y', 'Size', 'Distance to Plaza', 'Distance to Road'] as const),
          value: Type.Integer(),
          display_type: Type.Literal('number'),
        },
        'A number that marketplaces show. Distances are in parcels, and left out if nothing is near.',
      ),
    ),
    background_color: Type.String({ pattern: '^[0-9a-f]{6}$' }),
  },
  'A parcel or an estate as a token.',
)

/** Named schemas of openapi.json. */
export const TOKEN_SHAPES = { TokenMetadata: tokenMetadata } as const

export const tokenMetadataSchema = shapeRef('TokenMetadata')
