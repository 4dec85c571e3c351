import type { FastifyInstance } from 'fastify'
import { addMarketplaceRoutes, byId, type OffersJson } from '../listings/marketplace-simulator.ts'
import { DEED_KINDS, type Deed, type DeedKind } from './actors/deeds.ts'
import { DeedError } from './actors/players.ts'
import type { Block } from './blocks/block.ts'
import type { SimulatedChain } from './blocks/chain.ts'
import { type ControlledChain, loadedChain } from './control-routes.ts'
import { ControlError, fieldsOf } from './node/settings.ts'

const WEI_DIGITS = 18

/**
 * Calls that control how fast the chain grows, and what its players do.
 *
 * - `GET` and `PATCH /simulator/market` `{transactions_per_minute?, block_time_s?}`
 * - `POST /simulator/act` `{kind, parcel?, estate?}`: something happens now, in a block of its own
 * - `GET /simulator/offers`: what players have signed off the chain and can be accepted now
 *
 * It is the marketplace server of these offers, too.
 */
export function addMarketRoutes(app: FastifyInstance, controlled: ControlledChain): void {
  app.get('/simulator/market', async () => controlled.pace.settings)
  app.patch('/simulator/market', async ({ body }) => {
    await controlled.loaded
    return controlled.pace.change(body)
  })
  const offers = async () => offersOf(await loadedChain(controlled))
  app.get('/simulator/offers', offers)
  addMarketplaceRoutes(app, {
    trades: async () => byId((await offers()).trades),
    rentals: async () => byId((await offers()).rentals),
  })
  app.post('/simulator/act', async ({ body }) => {
    const chain = await loadedChain(controlled)
    const { pace } = controlled
    const { kind, ...named } = readAct(body)
    let deed: Deed | undefined
    try {
      const block = chain.mineWith((execute) => {
        deed = chain.players.do(kind, named, execute)
      }, pace.timeS())
      const { number, hash, timeS, transactions } = block
      return {
        kind,
        ...deedJson(deed!, chain.players.nameOf(deed!.asset)),
        block: { number, hash, time_s: timeS },
        transactions: transactions.map((transaction) => transaction.hash),
      }
    } catch (error) {
      if (error instanceof DeedError) throw new ControlError(error.message, 409)
      throw error
    }
  })
}

/** They are computed once for each block. */
const offersAt = new WeakMap<Block, OffersJson>()

function offersOf({ head, players }: SimulatedChain): OffersJson {
  const known = offersAt.get(head)
  if (known) return known
  const offers = {
    trades: (players.offers?.openAt(head.timeS) ?? []).map(({ json }) => json),
    rentals: players.offers?.rentalsAt(head.timeS) ?? [],
  }
  offersAt.set(head, offers)
  return offers
}

function readAct(body: unknown) {
  const { kind, parcel, estate, ...rest } = fieldsOf(body)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw new ControlError(`there is no field ${unknown}`)
  if (!isKind(kind)) throw new ControlError(`kind is ${DEED_KINDS.join(', ')}`)
  return { kind, parcel: textOf('parcel', parcel), estate: textOf('estate', estate) }
}

function isKind(value: unknown): value is DeedKind {
  return DEED_KINDS.some((kind) => kind === value)
}

function textOf(name: string, value: unknown): string | undefined {
  if (value === undefined || typeof value === 'string') return value
  throw new ControlError(`${name} is a text`)
}

function deedJson({ from, to, priceWei }: Deed, asset: string) {
  const [type, id] = asset.split(' ')
  return {
    ...{ asset_type: type, asset_id: id, from, to: to ?? null },
    price: priceWei === undefined ? null : manaOf(priceWei),
  }
}

/** @example manaOf(1_500_000_000_000_000_000n) // '1.5' */
function manaOf(wei: bigint): string {
  const digits = String(wei).padStart(WEI_DIGITS + 1, '0')
  return `${digits.slice(0, -WEI_DIGITS)}.${digits.slice(-WEI_DIGITS)}`.replace(/\.?0+$/, '')
}
