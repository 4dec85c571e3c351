import { RateLimiter } from '../chain/rpc/rate-limiter.ts'
import { type ReadingName, SERVERS } from '../land/changes/listings-reading.ts'
import { ListingsReader, type ListingsReaderOptions } from './listings-reader.ts'
import { MarketplaceServer } from './marketplace-server.ts'
import type { OfferFeed } from './offer-feed.ts'
import type { RentalContracts } from './rental-listing.ts'
import { RentalsServer } from './rentals-server.ts'
import { ServerClient } from './server-client.ts'
import type { TradeContracts } from './verify-trade.ts'

/** The servers that signed offers are read from: undefined where that is off. */
export interface OfferServers {
  readonly listings: {
    readonly url: string | undefined
    readonly intervalMs: number
    /** The most requests to both servers together. */
    readonly callsPerSecond: number
    readonly isShown: boolean
  }
  readonly rentals: { readonly url: string | undefined; readonly intervalMs: number }
}

/** The contracts that signed offers are about: undefined where the network has none. */
export interface OfferContracts {
  readonly trades?: TradeContracts | undefined
  readonly rentals?: RentalContracts | undefined
}

/** What reads signed offers: nothing where that is off. */
export function offerReaders(
  { listings, rentals }: OfferServers,
  contracts: OfferContracts,
  parts: Omit<ListingsReaderOptions, 'feed' | 'intervalMs' | 'isShown'>,
): readonly ListingsReader[] {
  const { timing, signal } = parts
  // Each has its half, because another process may read from the other server.
  const servers = [listings.url, rentals.url].filter((url) => url !== undefined).length
  const rate = { maxInFlight: 1, callsPerSecond: listings.callsPerSecond / servers, random: Math.random }
  const clientOf = (name: ReadingName, url: string) => {
    const limiter = new RateLimiter({ ...rate, timing, signal })
    return new ServerClient({ what: SERVERS[name], url, limiter, timing, signal })
  }
  const readerOf = (feed: OfferFeed, intervalMs: number) =>
    new ListingsReader({ ...parts, feed, intervalMs, isShown: listings.isShown })
  const readers: ListingsReader[] = []
  if (listings.url !== undefined && contracts.trades) {
    const server = new MarketplaceServer(clientOf('listings', listings.url), contracts.trades)
    readers.push(readerOf(server, listings.intervalMs))
  }
  if (rentals.url !== undefined && contracts.rentals) {
    const server = new RentalsServer(clientOf('rentals', rentals.url), contracts.rentals)
    readers.push(readerOf(server, rentals.intervalMs))
  }
  return readers
}
