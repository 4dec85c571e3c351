export { isEstate } from './assets.ts'
export * as attendance from './attendance.ts'
export type { AnswerForm, Call, QueryValue } from './call.ts'
export {
  type FollowOptions,
  followChanges,
  followLand,
  type LandChange,
  type LandState,
  type SearchChange,
} from './changes.ts'
export { type Answer, type Client, type ClientOptions, createClient, type SendOptions } from './client.ts'
export { LandpassError, type LandpassErrorCode, type LandpassErrorFacts } from './errors.ts'
export { type EtagStore, memoryEtagStore, type StoredAnswer } from './etags.ts'
export { type Exact, parseExactJson } from './exact-json.ts'
export type {
  BidQuery,
  Corners,
  LandFacet,
  LandFileQuery,
  LandFilter,
  LandPageQuery,
  LandStatus,
  MapImageQuery,
  MarketQuery,
  MortgageStatus,
  OfferQuery,
  OfferStatus,
  ParcelPage,
  SalesQuery,
  SortBy,
  SortOrder,
  TileField,
  TileQuery,
} from './land.ts'
export * as land from './land.ts'
export { type Page, type PageOptions, type PageRequest, pages, type RowOf, rows } from './pages.ts'
export {
  NonceSearch,
  type ProofOfWork,
  proofOf,
  proofOfWorkIn,
  type SolveOptions,
  solveProofOfWork,
} from './proof-of-work.ts'
export { RECORD_FIELDS } from './record-fields.ts'
export { EventStreamReader, type StreamPart } from './server-sent-events.ts'
export { signGrant } from './sign-grant.ts'
export * as system from './system.ts'
export type { Transport, TransportBody, TransportRequest, TransportResponse } from './transport.ts'
export { type FetchTransportOptions, fetchTransport } from './transports/fetch.ts'
export * from './types.ts'
export { type Wait, waitFor } from './wait.ts'
