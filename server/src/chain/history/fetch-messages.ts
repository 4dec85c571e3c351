import type { Network } from '../chain-types.ts'
import type { BlockRange } from '../follow/chain-source.ts'
import type { CallCount } from '../rpc/call-counters.ts'
import type { HistoryProgress } from './fetch-history.ts'
import type { SpoolPlace } from './spool-place.ts'

/** What the thread is started with. */
export interface FetchTask extends SpoolPlace {
  readonly urls: readonly string[]
  readonly network: Network
  readonly maxRangeBlocks: number
  readonly callsInFlight: number
  readonly finality: number | undefined
}

/** Each request is answered with its id. */
export type ToThread = { readonly id: number } & (
  | { readonly kind: 'fetch'; readonly last: number; readonly mayBeEmpty: boolean }
  | { readonly kind: 'again'; readonly blocks: BlockRange }
  | { readonly kind: 'drop'; readonly from: number }
  | { readonly kind: 'close' }
)

export type FromThread =
  /** What {@link LogFetcher.readAgain} returned; false for all other requests. */
  | { readonly kind: 'done'; readonly id: number; readonly hasFound: boolean }
  | ({ readonly kind: 'failed'; readonly id: number } & FailedWork)
  | { readonly kind: 'progress'; readonly progress: HistoryProgress }
  | { readonly kind: 'suspects'; readonly blocks: readonly number[] }
  | { readonly kind: 'stored'; readonly last: number }
  /** What failed is tried again; everyone may read the reason. */
  | { readonly kind: 'waits'; readonly reason: string }
  /** A line for operators. */
  | { readonly kind: 'line'; readonly line: string }
  /** Calls to nodes since the message before. */
  | { readonly kind: 'calls'; readonly calls: readonly CallCount[] }

/** An error of the thread: classes do not pass from thread to thread. */
export interface FailedWork {
  readonly message: string
  /** What everyone may read of it. */
  readonly publicText: string
  readonly stack: string | undefined
}

/** The id of the answer to the start. */
export const STARTED = 0
