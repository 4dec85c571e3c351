import { CommandError } from '../../errors.ts'
import { HistoryMissingError } from '../rpc/check-history.ts'
import { NoNodeError } from '../rpc/no-node-error.ts'
import { NodeError } from '../rpc/node-error.ts'
import { ContradictionError } from './chain-source.ts'

/** What everyone may read of errors whose text is for the operator: it may name paths, or repeat what a database said. */
export const PRIVATE_FAILURE = 'the server has a failure of its own, which is in its log'

/**
 * What everyone may read of an error. Messages about nodes have no secrets of their addresses; errors of commands say by
 * themselves what everyone may read; all others are for the log.
 *
 * @example
 * publicText(new Error('password authentication failed for user "land"')) // PRIVATE_FAILURE
 */
export function publicText(error: unknown): string {
  const isAboutNodes =
    error instanceof NodeError ||
    error instanceof NoNodeError ||
    error instanceof HistoryMissingError ||
    error instanceof ContradictionError
  if (isAboutNodes) return error.message
  return (error instanceof CommandError ? error.publicText : undefined) ?? PRIVATE_FAILURE
}
