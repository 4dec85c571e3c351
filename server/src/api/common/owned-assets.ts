import { coordText } from '@landpass/client/grid'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Answer, DATA } from '../../http/answer.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import { send } from '../../http/send.ts'
import { newestPublications } from '../../land/queries/publication-queries.ts'
import type { AssetType } from '../../land/records/assets.ts'
import type { JsonPieces } from '../../land/records/json.ts'
import { publicationJson } from '../../land/records/publication.ts'
import type { ListingStatus } from '../../land/records/statuses.ts'
import type { AssetRow, State } from '../../state/state.ts'
import { arrayPieces, assetsAnswer, assetsCost } from './land-answers.ts'
import type { LandContext } from './land-context.ts'

export interface Owned {
  readonly owner: string
  readonly type: AssetType
  /** Undefined: all assets of the address. */
  readonly statuses: readonly ListingStatus[] | undefined
}

/**
 * Answers the parcels or estates of an address, by id, each with its `publication`. With a status: only those that have
 * a publication of that status, with the newest of these.
 */
export function answerOwned(request: FastifyRequest, reply: FastifyReply, land: LandContext, owned: Owned) {
  return send(request, reply, () => ownedAnswer(land, owned))
}

function ownedAnswer(land: LandContext, owned: Owned): Answer {
  const moment = land.moment()
  const { state, nowMs } = moment
  // Listed anew for the body: the answer may be held, and some addresses own half the world.
  const assets = () => assetsOf(state, owned)
  const count = rowsOf(state, owned).length
  const showsOpen = owned.statuses?.includes('open') ?? true
  const freshness = state.freshness(showsOpen ? state.assetsExpiry(assets(), nowMs) : state.rentExpiry(nowMs))
  if (owned.statuses !== undefined) {
    const body = async () => {
      const found = await withStatus(land, state, assets(), owned, nowMs)
      return assetsAnswer(found.length, () => arrayPieces(found)).body()
    }
    const cost = QUERY_UNITS + assetsCost(count)
    return { freshness, format: DATA, cost, body, moment }
  }
  const all = () => arrayPieces(piecesOf(state, assets(), nowMs))
  // Streamed because one address, which holds the districts, owns half the world.
  return { freshness, format: DATA, ...assetsAnswer(count, all), moment }
}

function* piecesOf(state: State, assets: readonly AssetRow[], nowMs: number): Generator<JsonPieces> {
  for (const asset of assets) yield state.assetPieces(asset, nowMs)
}

function assetsOf(state: State, owned: Owned): AssetRow[] {
  const { type } = owned
  return Array.from(rowsOf(state, owned), (row) => ({ type, row }))
}

function rowsOf(state: State, { owner, type }: Owned): Uint32Array {
  return type === 'parcel' ? state.parcelsOf(owner) : state.estatesOf(owner)
}

async function withStatus(
  land: LandContext,
  state: State,
  assets: readonly AssetRow[],
  { type, statuses = [] }: Owned,
  nowMs: number,
): Promise<JsonPieces[]> {
  const closed = statuses.filter((status) => status !== 'open')
  const ids = assets.map((asset) => assetId(state, asset))
  const found =
    closed.length === 0
      ? []
      : await newestPublications(land.db, state.worldId, { type, ids, statuses: closed })
  const closedOf = new Map(found.map((row) => [row.asset_id, row]))
  const { openKey, openMadeAtMs } = state.parts.publications
  return assets.flatMap((asset, i) => {
    const offer = statuses.includes('open') ? offerOf(state, asset, nowMs) : -1
    const publication = closedOf.get(ids[i]!)
    // An offer that was signed off the chain has a key of when it was read, so keys only decide within a block.
    const age =
      publication && offer >= 0
        ? openMadeAtMs[offer]! - publication.block_time_created_at_ms || openKey[offer]! - publication.key
        : 1
    if (offer >= 0 && age > 0) return [state.assetPieces(asset, nowMs)]
    if (!publication) return []
    return [state.assetPieces(asset, nowMs, Buffer.from(publicationJson(publication)))]
  })
}

function offerOf(state: State, { type, row }: AssetRow, nowMs: number): number {
  return type === 'parcel' ? state.parcelOffer(row, nowMs) : state.estateOffer(row, nowMs)
}

function assetId({ parts }: State, { type, row }: AssetRow): string {
  if (type === 'estate') return parts.estates.ids[row]!
  return coordText({ x: parts.parcels.x[row]!, y: parts.parcels.y[row]! })
}
