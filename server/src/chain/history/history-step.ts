import type { Progress } from '../../land/snapshot/import.ts'
import type { HistoryProgress } from './fetch-history.ts'

/** What is being done: reading logs, replaying them, asking contracts, writing the tables, or importing a snapshot. */
export type HistoryStep =
  | ({ readonly phase: 'history' } & HistoryProgress)
  | { readonly phase: 'replay'; readonly block: number; readonly last: number; readonly events: number }
  /** How many of the assets of which logs do not know all have been asked for; `block` is that of the world. */
  | { readonly phase: 'contracts'; readonly block: number; readonly done: number; readonly total: number }
  | { readonly phase: 'write'; readonly block: number }
  /** What failed is tried again; everyone may read the reason. */
  | { readonly phase: 'waits'; readonly reason: string }
  | Progress

/** A step in words. */
export function sentenceOf(step: HistoryStep): string {
  switch (step.phase) {
    case 'history': {
      const { block, last, percent, logs, logsPerSecond, secondsLeft } = step
      const left = secondsLeft === null ? '' : `, ${secondsLeft} s left`
      return `history: block ${block} of ${last} (${percent} %), ${logs} logs, ${logsPerSecond} logs/s${left}`
    }
    case 'replay':
      return `replay: block ${step.block} of ${step.last}, ${step.events} events`
    case 'contracts':
      return `contracts: ${step.done} of ${step.total} assets asked`
    case 'write':
      return `write: the world of block ${step.block}`
    case 'waits':
      return `The history waits, and what failed is tried again: ${step.reason}`
    default:
      return `${step.phase}: ${step.done} of ${step.total} records`
  }
}
