import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AssetType, ListingStatus } from '../db/schema.ts'
import { answer, answerStream, type JsonPieces } from '../http/answers.ts'
import { coordText } from '../world/coord.ts'
import type { AssetRow } from './assets.ts'
import { arrayPieces, WHOLE_ANSWER_ASSETS } from './land-answers.ts'
import type { LandContext } from './land-context.ts'
import type { Present } from './present/present.ts'
import { publicationJson } from './publications/publication-json.ts'
import { newestPublications } from './publications/publication-queries.ts'

export interface Owned {
  readonly owner: string
  readonly type: AssetType
  /** Undefined: all that the address owns. */
  readonly statuses: readonly ListingStatus[] | undefined
}

/**
 * The parcels or estates of an address, by id, each with its `publication`. With a status: only those that have a
 * publication of that status, and shown with the newest such one.
 */
export function answerOwned(request: FastifyRequest, reply: FastifyReply, land: LandContext, owned: Owned) {
  const present = land.present()
  const nowMs = land.clock.nowMs()
  const assets = assetsOf(present, owned)
  const showsOpen = owned.statuses?.includes('open') ?? true
  const freshness = present.freshness(showsOpen ? present.assetsExpiry(assets, nowMs) : 0)
  if (owned.statuses !== undefined) {
    return answer(request, reply, freshness, () =>
      withStatus(land, present, assets, owned, nowMs).then(arrayPieces),
    )
  }
  const all = () => arrayPieces(piecesOf(present, assets, nowMs))
  // The holder of the districts owns half the world.
  if (assets.length > WHOLE_ANSWER_ASSETS) return answerStream(request, reply, freshness, all)
  return answer(request, reply, freshness, all)
}

function* piecesOf(present: Present, assets: readonly AssetRow[], nowMs: number): Generator<JsonPieces> {
  for (const asset of assets) yield present.assetPieces(asset, nowMs)
}

function assetsOf(present: Present, { owner, type }: Owned): AssetRow[] {
  const rows = type === 'parcel' ? present.parcelsOf(owner) : present.estatesOf(owner)
  return Array.from(rows, (row) => ({ type, row }))
}

async function withStatus(
  land: LandContext,
  present: Present,
  assets: readonly AssetRow[],
  { type, statuses = [] }: Owned,
  nowMs: number,
): Promise<JsonPieces[]> {
  const closed = statuses.filter((status) => status !== 'open')
  const ids = assets.map((asset) => assetId(present, asset))
  const found =
    closed.length === 0
      ? []
      : await newestPublications(land.db, present.worldId, { type, ids, statuses: closed })
  const closedOf = new Map(found.map((row) => [row.asset_id, row]))
  const { openKey } = present.parts.publications
  return assets.flatMap((asset, i) => {
    const offer = statuses.includes('open') ? offerOf(present, asset, nowMs) : -1
    const publication = closedOf.get(ids[i]!)
    // Keys are given in order of creation.
    if (offer >= 0 && (!publication || publication.key < openKey[offer]!))
      return [present.assetPieces(asset, nowMs)]
    if (!publication) return []
    return [present.assetPieces(asset, nowMs, Buffer.from(publicationJson(publication)))]
  })
}

function offerOf(present: Present, { type, row }: AssetRow, nowMs: number): number {
  return type === 'parcel' ? present.parcelOffer(row, nowMs) : present.estateOffer(row, nowMs)
}

function assetId({ parts }: Present, { type, row }: AssetRow): string {
  if (type === 'estate') return parts.estates.ids[row]!
  return coordText({ x: parts.parcels.x[row]!, y: parts.parcels.y[row]! })
}
