import type { FastifyInstance } from 'fastify'
import { type ControlledChain, loadedChain } from './control-routes.ts'
import { DEED_KINDS, type Deed, type DeedKind } from './market/deeds.ts'
import { DeedError, type Market, nameOf } from './market/market.ts'
import { ControlError, fieldsOf } from './node/settings.ts'
import type { Pace } from './pace.ts'

const WEI_DIGITS = 18

export interface ControlledMarket extends ControlledChain {
  /** Undefined where the chain did not begin with a snapshot. */
  readonly market: Market | undefined
  /** @throws {ControlError} before there is a chain */
  readonly pace: Pace
}

/**
 * Calls that control how fast the chain grows, and what its players do.
 *
 * - `GET` and `PATCH /simulator/market` `{transactions_per_minute?, block_time_s?}`
 * - `POST /simulator/act` `{kind, parcel?, estate?}`: something happens now, in a block of its own
 */
export function addMarketRoutes(app: FastifyInstance, controlled: ControlledMarket): void {
  app.get('/simulator/market', async () => controlled.pace.settings)
  app.patch('/simulator/market', async ({ body }) => {
    await controlled.loaded
    return controlled.pace.change(body)
  })
  app.post('/simulator/act', async ({ body }) => {
    const chain = await loadedChain(controlled)
    const { market, pace } = controlled
    if (!market) throw new ControlError('only a chain that begins with a snapshot has a market', 409)
    const { kind, ...named } = readAct(body)
    let deed: Deed | undefined
    try {
      const block = chain.mineWith((execute) => {
        deed = market.do(kind, named, execute)
      }, pace.timeS())
      const { number, hash, timeS, transactions } = block
      return {
        ...deedJson(deed!),
        block: { number, hash, time_s: timeS },
        transactions: transactions.map((transaction) => transaction.hash),
      }
    } catch (error) {
      if (error instanceof DeedError) throw new ControlError(error.message, 409)
      throw error
    }
  })
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

function deedJson({ kind, asset, from, to, priceWei }: Deed) {
  const [type, id] = nameOf(asset).split(' ')
  return {
    ...{ kind, asset_type: type, asset_id: id, from, to: to ?? null },
    price: priceWei === undefined ? null : manaOf(priceWei),
  }
}

/** @example manaOf(1_500_000_000_000_000_000n) // '1.5' */
function manaOf(wei: bigint): string {
  const digits = String(wei).padStart(WEI_DIGITS + 1, '0')
  return `${digits.slice(0, -WEI_DIGITS)}.${digits.slice(-WEI_DIGITS)}`.replace(/\.?0+$/, '')
}
