import { coordText } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema, HIDDEN } from '../../http/schemas.ts'
import { type JudgedOffer, judgeTimes } from '../../land/events/signed-offers.ts'
import { type AssetPublication, publicationsOfAsset } from '../../land/queries/publication-queries.ts'
import { type JudgedTrade, signedOffersOf } from '../../land/queries/signed-offer-queries.ts'
import { type AssetName, findAsset } from '../../land/records/assets.ts'
import { type AnsweredPublication, type OfferDetails, offerJson } from '../../land/records/publication.ts'
import { publicationOfTrade } from '../../land/records/signed-publication.ts'
import { sendJudged } from '../common/land-answers.ts'
import type { LandContext } from '../common/land-context.ts'
import { strictQuery } from '../common/land-filters.ts'
import {
  assertKnownPlace,
  coordParams,
  coordTextParams,
  estateParams,
  readKnownPlace,
} from '../common/parameters.ts'
import { rentalPeriodsJson } from '../common/rental-periods.ts'
import { publicationSchema } from '../common/schemas.ts'
import { rentalOfferSchema } from './offer-shapes.ts'

const ERRORS = ['invalid_parameter', 'too_many_requests', 'database_unavailable'] as const
const saleResponses = freshSchema(Type.Array(publicationSchema), ERRORS)
const rentalResponses = freshSchema(Type.Array(rentalOfferSchema), ERRORS)

/**
 * The offers to sell one asset, and those to rent it, also those that cannot be accepted now, each with its state and why.
 */
export const assetOfferRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const answerSales = async (request: FastifyRequest, reply: FastifyReply, asset: AssetName) => {
    request.costAccount?.charge(reply, QUERY_UNITS)
    const { worldId } = land.state()
    const nowMs = land.clock.nowMs()
    const [onChain, signed] = await Promise.all([
      publicationsOfAsset(land.db, worldId, asset),
      signedOffersOf(land.db, worldId, asset, 'listings'),
    ])
    const offers = [
      ...onChain
        .filter(({ status, trade_id }) => status === 'open' && trade_id === null)
        .map((row) => ({ row, details: detailsOf(row, nowMs) })),
      ...signed.map((offer) => signedOffer(offer, nowMs, onChain)),
    ]
    const isOpen = ({ details }: Offer) => Number(details.state === 'open')
    offers.sort((a, b) => isOpen(b) - isOpen(a))
    const rows = offers.map(({ row, details }) => offerJson(row, details))
    return sendJudged(request, reply, { json: `[${rows.join(',')}]`, judgedAtMs: nowMs })
  }

  const answerRentals = async (request: FastifyRequest, reply: FastifyReply, asset: AssetName) => {
    request.costAccount?.charge(reply, QUERY_UNITS)
    const nowMs = land.clock.nowMs()
    const offers = await signedOffersOf(land.db, land.state().worldId, asset, 'rentals')
    const json = JSON.stringify(offers.map((one) => rentalOffer(one, nowMs)))
    return sendJudged(request, reply, { json, judgedAtMs: nowMs })
  }

  for (const { path, parcelId, estateId, summary, responses, answer } of [
    {
      path: 'offers',
      parcelId: 'parcelOffers',
      estateId: 'estateOffers',
      summary: 'The offers of',
      responses: saleResponses,
      answer: answerSales,
    },
    {
      path: 'rental-offers',
      parcelId: 'parcelRentalOffers',
      estateId: 'estateRentalOffers',
      summary: 'The offers to rent',
      responses: rentalResponses,
      answer: answerRentals,
    },
  ]) {
    const common = { tags: ['publications'], querystring: strictQuery({}), responses }
    const why = 'and why some cannot be accepted now'
    const ofParcel = { operationId: parcelId, summary: `${summary} a parcel, ${why}` }
    app.get(
      `/parcels/:x/:y/${path}`,
      { schema: { ...common, ...ofParcel, params: coordParams(land.world) } },
      (request, reply) => {
        const id = coordText(assertKnownPlace(land, request.params))
        return answer(request, reply, { type: 'parcel', id })
      },
    )
    app.get(
      `/parcels/:place/${path}`,
      { schema: { ...common, ...HIDDEN, params: coordTextParams } },
      (request, reply) => {
        const id = coordText(readKnownPlace(land, request.params.place))
        return answer(request, reply, { type: 'parcel', id })
      },
    )
    const ofEstate = { operationId: estateId, summary: `${summary} an estate, ${why}` }
    app.get(
      `/estates/:id/${path}`,
      { schema: { ...common, ...ofEstate, params: estateParams } },
      (request, reply) => answer(request, reply, findAsset(request.params.id!, 'estate')),
    )
  }
}

interface Offer {
  readonly row: AnsweredPublication
  readonly details: OfferDetails
}

/** The chain closes an offer; only its end is left to the clock. */
function detailsOf({ expires_at_ms }: AnsweredPublication, nowMs: number): OfferDetails {
  const judged = judgeTimes({ effective_at_ms: 0, expires_at_ms }, { nowMs, isUnseen: false })
  return { currency: 'mana', priceUsd: null, ...judged }
}

/**
 * What the price of an offer in dollars is in MANA is not known: 0 stands for it.
 *
 * @param onChain the publications of the asset, newest first: the sale of an offer that was bought is one of them
 */
function signedOffer(offer: JudgedTrade, nowMs: number, onChain: readonly AssetPublication[]): Offer {
  const { currency, price } = offer
  const { state, reason } = judgedNow(offer, nowMs)
  const status = state === 'open' ? 'open' : state === 'used' ? 'sold' : 'cancelled'
  const sale = status === 'sold' ? onChain.find((one) => isSaleOf(offer, one)) : undefined
  const row = {
    ...publicationOfTrade(offer, 0),
    status,
    ...(sale && { buyer: sale.buyer, block_time_updated_at_ms: sale.block_time_updated_at_ms }),
  } as const
  return currency === 'mana'
    ? { row, details: { currency, priceUsd: null, state, reason } }
    : { row: { ...row, price: '0' }, details: { currency, priceUsd: price, state, reason } }
}

function isSaleOf({ signature_hash, marketplace, signer }: JudgedTrade, row: AssetPublication): boolean {
  return (
    row.sold_source === 'trade' &&
    row.contract_id === signature_hash &&
    row.marketplace_address === marketplace &&
    row.owner === signer
  )
}

function rentalOffer(offer: JudgedTrade, nowMs: number) {
  const { id, signer, price, created_at_ms, expires_at_ms } = offer
  const { state, reason } = judgedNow(offer, nowMs)
  const periods = rentalPeriodsJson(JSON.parse(offer.periods ?? '[]'))
  return {
    ...{ id, lessor: signer, price_per_day: price, listed_at: created_at_ms, expires_at: expires_at_ms },
    ...{ periods, state, state_reason: reason },
  }
}

/** Offers are judged when something changes: a time may have passed since. */
function judgedNow(offer: JudgedTrade, nowMs: number): JudgedOffer {
  const isUnseen = offer.state === 'unseen'
  return ['open', 'unseen', 'not_yet'].includes(offer.state)
    ? judgeTimes(offer, { nowMs, isUnseen })
    : { state: offer.state, reason: offer.state_reason }
}
