import type { FastifyInstance } from 'fastify'
import type { ChainStatusSource } from '../chain/follow/chain-status.ts'
import { type Routes, routeServer, serveRoutes } from '../http/routes.ts'
import { mapRoutes } from './area/map-routes.ts'
import { bidRoutes } from './bid-routes.ts'
import type { OffersStatus } from './chain/chain-routes.ts'
import { chainRoutes } from './chain/chain-routes.ts'
import { changeRoutes } from './changes/change-routes.ts'
import type { ChangeStream } from './changes/change-stream.ts'
import type { SearchStreams } from './changes/search-streams.ts'
import type { LandContext } from './common/land-context.ts'
import { contributionRoutes, newerContributionRoutes } from './contributions/contribution-routes.ts'
import { districtRoutes, newerDistrictRoutes } from './districts/district-routes.ts'
import { estateRoutes } from './estate-routes.ts'
import { exportRoutes } from './export/export-routes.ts'
import { feedRoutes } from './feed/feed-routes.ts'
import { dataImageRoutes } from './images/data-image-routes.ts'
import { imageRoutes } from './images/image-routes.ts'
import { newerImageRoutes } from './images/newer-image-routes.ts'
import type { Pictures } from './images/pictures.ts'
import { pyramidRoutes } from './images/pyramid-routes.ts'
import { landRoutes } from './land/land-routes.ts'
import { marketplaceRoutes } from './marketplace/marketplace-routes.ts'
import { type MetadataSettings, metadataRoutes } from './metadata/metadata-routes.ts'
import { mortgageRoutes } from './mortgage-routes.ts'
import { assetOfferRoutes } from './offers/asset-offer-routes.ts'
import { offerRoutes } from './offers/offer-routes.ts'
import { availableRoutes } from './parcels/available-routes.ts'
import { parcelRoutes } from './parcels/parcel-routes.ts'
import { publicationRoutes } from './publication-routes.ts'
import { rightsRoutes } from './rights/rights-routes.ts'
import { salesRoutes } from './sales/sales-routes.ts'
import { searchRoutes } from './search/search-routes.ts'
import { sourceRoutes } from './source/source-routes.ts'
import { olderTileRoutes } from './tile-data/older-tile-routes.ts'
import { tileRoutes } from './tile-data/tile-routes.ts'
import { valueRoutes } from './value/value-routes.ts'

export interface LandApiParts {
  readonly land: LandContext
  readonly pictures: Pictures
  readonly changeStream: ChangeStream
  readonly searchStreams: SearchStreams
  readonly chain: ChainStatusSource
  /** How far the readings of signed offers are. */
  readonly offers: readonly OffersStatus[]
  readonly settings: MetadataSettings & {
    readonly publicUrl: string | undefined
    readonly chain: { readonly explorerUrl: string | undefined }
  }
}

/** Prefixes of the endpoints of the older interface: they answer with and without their version. */
export const VERSION_PREFIXES = ['', '/v1'] as const
const NEWER_PREFIX = '/v2'

/** Every endpoint of the land data interface. */
export async function serveLandApi(server: FastifyInstance, parts: LandApiParts): Promise<void> {
  for (const prefix of VERSION_PREFIXES) await serveRoutes(server, olderRoutes, parts, prefix)
  tileRoutes(routeServer(server), parts)
  await serveRoutes(server, newerRoutes, parts, NEWER_PREFIX)
}

/** The endpoints of the older interface. */
const OLDER: readonly Routes<LandApiParts>[] = [
  bidRoutes,
  contributionRoutes,
  districtRoutes,
  estateRoutes,
  mapRoutes,
  marketplaceRoutes,
  mortgageRoutes,
  parcelRoutes,
  publicationRoutes,
  // What the older web client requests, and the shapes of public servers of offers
  availableRoutes,
  olderTileRoutes,
  sourceRoutes,
  imageRoutes,
  dataImageRoutes,
]

const olderRoutes: Routes<LandApiParts> = (app, parts) => {
  for (const routes of OLDER) routes(app, parts)
  pyramidRoutes(app, { ...parts, publicUrl: parts.settings.publicUrl })
}

/** What is new below `/v2`, and again districts, contributions and map images, in the form of the public atlas server. */
const NEWER: readonly Routes<LandApiParts>[] = [
  changeRoutes,
  newerContributionRoutes,
  newerDistrictRoutes,
  exportRoutes,
  feedRoutes,
  newerImageRoutes,
  landRoutes,
  offerRoutes,
  assetOfferRoutes,
  rightsRoutes,
  salesRoutes,
  searchRoutes,
  valueRoutes,
  metadataRoutes,
]

const newerRoutes: Routes<LandApiParts> = (app, parts) => {
  chainRoutes(app, { ...parts, clock: parts.land.clock, explorerUrl: parts.settings.chain.explorerUrl })
  for (const routes of NEWER) routes(app, parts)
}
