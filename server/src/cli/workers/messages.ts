import type { SharedCount, Spent } from '../../http/worker-group.ts'

/** What a worker process sends to the process that started it. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'alive' }
  | { readonly kind: 'want metrics'; readonly id: number }
  | { readonly kind: 'own metrics'; readonly id: number; readonly text: string }
  | {
      readonly kind: 'count'
      readonly id: number
      readonly limit: string
      readonly sender: string
      readonly windowMs: number
    }
  | { readonly kind: 'spent'; readonly spent: readonly Spent[] }

/** What it receives. */
export type ToWorker =
  | { readonly kind: 'stop'; readonly signal: 'SIGINT' | 'SIGTERM' }
  | { readonly kind: 'are you alive' }
  | { readonly kind: 'want own metrics'; readonly id: number }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: string | SharedCount }
  | { readonly kind: 'spent'; readonly spent: readonly Spent[] }

/** The environment of a worker process says which one it is, and when it listens. */
export const WORKER_NUMBER = 'LANDPASS_WORKER_NUMBER'
export const LISTENS_AT_ONCE = 'LANDPASS_WORKER_LISTENS_AT_ONCE'
