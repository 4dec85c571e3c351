import { type Coord, decodeTokenId, parseTokenId } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { AppError } from '../../errors.ts'
import { BARE_JSON } from '../../http/answer.ts'
import { publicBase } from '../../http/public-base.ts'
import type { Routes } from '../../http/routes.ts'
import { bareSchema, HIDDEN } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { invalidParameter } from '../../http/validation.ts'
import { estateIdOf } from '../../land/records/assets.ts'
import type { Registries } from '../../land/records/contracts.ts'
import type { State } from '../../state/state.ts'
import type { LandContext } from '../common/land-context.ts'
import {
  addressParams,
  assertKnownPlace,
  coordParams,
  coordTextParams,
  estateParams,
  lowerCase,
  readKnownPlace,
  TOKEN_ID_ALLOWED,
} from '../common/parameters.ts'
import { estateTokenJson, parcelTokenJson, type TokenLinks } from './metadata-json.ts'
import { tokenMetadataSchema } from './metadata-shapes.ts'

/** Settings for the addresses in metadata. */
export interface MetadataSettings {
  /** Undefined: the host that the request names. */
  readonly publicUrl: string | undefined
  /** Undefined: `/v2` of this server. */
  readonly externalBaseUrl: string | undefined
}

const tags = ['metadata']

/** The metadata of parcels and estates as tokens, in the form that marketplaces read: JSON without the envelope. */
export const metadataRoutes: Routes<{
  land: LandContext
  settings: MetadataSettings
}> = (app, { land, settings }) => {
  const { registries } = land
  const linksFor = (request: FastifyRequest): TokenLinks => {
    const base = publicBase(request, settings.publicUrl)
    return { registries, base, externalBase: settings.externalBaseUrl ?? `${base}/v2` }
  }

  const answerToken = (request: FastifyRequest, reply: FastifyReply, find: (state: State) => Token) => {
    const state = land.state()
    const { row, json } = find(state)
    const body = () => json(state, row, linksFor(request))
    return send(request, reply, { freshness: state.freshness(), format: BARE_JSON, body })
  }

  const answerParcel = (request: FastifyRequest, reply: FastifyReply, coord: Coord) =>
    answerToken(request, reply, (state) => parcelToken(state.parcelRow(coord), { ...coord }))

  app.get(
    '/parcels/:x/:y',
    {
      schema: {
        tags,
        operationId: 'parcelToken',
        summary: "Metadata of a parcel's token, by its coordinates",
        params: coordParams(land.world),
        responses: bareSchema(tokenMetadataSchema, ['invalid_parameter', 'parcel_not_found']),
      },
    },
    (request, reply) => answerParcel(request, reply, assertKnownPlace(land, request.params)),
  )

  app.get('/parcels/:place', { schema: { ...HIDDEN, params: coordTextParams } }, (request, reply) =>
    answerParcel(request, reply, readKnownPlace(land, request.params.place)),
  )

  app.get(
    '/estates/:id',
    {
      schema: {
        tags,
        operationId: 'estateToken',
        summary: "Metadata of an estate's token, by its id",
        description: 'A dissolved estate has size 0.',
        params: estateParams,
        responses: bareSchema(tokenMetadataSchema, ['invalid_parameter', 'estate_not_found']),
      },
    },
    (request, reply) => {
      const id = estateIdOf(request.params.id!)
      return answerToken(request, reply, (state) => estateToken(state.estateRow(id), { id }))
    },
  )

  app.get(
    '/contracts/:address/tokens/:id',
    {
      schema: {
        tags,
        operationId: 'token',
        summary: 'Metadata of a token, by its contract and its id',
        params: Type.Object({
          ...addressParams.properties,
          id: Type.String({
            'x-allowed': TOKEN_ID_ALLOWED,
            description: 'Token id, decimal, or 0x and hex digits.',
          }),
        }),
        responses: bareSchema(tokenMetadataSchema, [
          'invalid_parameter',
          'contract_not_found',
          'parcel_not_found',
          'estate_not_found',
        ]),
      },
    },
    (request, reply) => {
      const { address, id } = request.params
      const number = parseTokenId(id)
      if (number === undefined) throw invalidParameter('id', id, TOKEN_ID_ALLOWED)
      return answerToken(request, reply, (state) => tokenOf(state, registries, lowerCase(address), number))
    },
  )
}

/** A row of the state, and the function that writes its metadata. */
interface Token {
  readonly row: number
  readonly json: typeof parcelTokenJson
}

/** @throws {AppError} `contract_not_found`, `parcel_not_found` or `estate_not_found` */
function tokenOf(state: State, { land, estate }: Registries, contract: string, tokenId: bigint): Token {
  const facts = { address: contract, token_id: String(tokenId) }
  switch (contract) {
    case land: {
      const coord = decodeTokenId(tokenId)
      return parcelToken(coord ? state.parcelRow(coord) : -1, facts)
    }
    case estate:
      return estateToken(state.estateRow(String(tokenId)), facts)
    default: {
      const sentence = `This contract has no land; parcels are in ${land}, estates in ${estate}.`
      throw new AppError('contract_not_found', sentence, { address: contract })
    }
  }
}

function parcelToken(row: number, facts: Readonly<Record<string, unknown>>): Token {
  if (row < 0) throw new AppError('parcel_not_found', 'The world has no such parcel.', facts)
  return { row, json: parcelTokenJson }
}

function estateToken(row: number, facts: Readonly<Record<string, unknown>>): Token {
  if (row < 0) throw new AppError('estate_not_found', 'There is no estate with this id.', facts)
  return { row, json: estateTokenJson }
}
