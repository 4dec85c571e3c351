import type { OutboundFailure } from '../../outbound.ts'
import { maskSecrets, type NodeAddress } from './node-address.ts'
import type { Refusal } from './refusals.ts'

/**
 * Why there is no usable answer: a refusal of the node; `timeout`, `unreachable`, `too_large`, `redirect` of the connection;
 * or `wrong_answer`: the answer contradicts itself, the request, or the format.
 */
export type NodeFailure = Refusal | { readonly kind: OutboundFailure } | { readonly kind: 'wrong_answer' }
export type FailureKind = NodeFailure['kind']

/** What a failure means, for people; the words of the node follow. */
const SENTENCES: Readonly<Record<FailureKind, string>> = {
  range_too_large: 'the range of blocks is too large for this node',
  too_many_results: 'there are too many results for one answer of this node',
  too_many_addresses: 'the filter has too many addresses for this node',
  rate_limit: 'the node limits the rate of calls',
  history: 'the node does not have the data of such old blocks',
  unknown_block: 'the node does not know the block',
  beyond_head: 'the block is beyond the head of the node',
  unknown_method: 'the node does not offer this method',
  late: 'the node took too long by its own limit',
  reverted: 'the contract refused the call',
  refused: 'the node refused the call',
  timeout: 'no answer before the deadline',
  unreachable: 'no connection, or it broke',
  too_large: 'the answer is larger than the limit',
  redirect: 'the node redirects to another address, which is not followed',
  wrong_answer: 'the answer is wrong',
}

/** A node gave no usable answer. Shows of the node's address only scheme and host. */
export class NodeError extends Error {
  /** The short name of the node. */
  readonly node: string
  readonly method: string
  readonly failure: NodeFailure

  /** @param words of the node, or what is wrong about its answer; secrets of the address are masked */
  constructor(address: NodeAddress, method: string, failure: NodeFailure, words = '') {
    const detail = words === '' ? '' : `: ${JSON.stringify(maskSecrets(address, words))}`
    super(`${address.shown}: ${method}: ${SENTENCES[failure.kind]}${detail}`)
    this.name = 'NodeError'
    this.node = address.name
    this.method = method
    this.failure = failure
  }

  get kind(): FailureKind {
    return this.failure.kind
  }
}

/** Whether fewer blocks may help: the failures that shrink a range of logs. */
export function asksForLess(error: unknown): error is NodeError {
  return (
    error instanceof NodeError &&
    ['range_too_large', 'too_many_results', 'too_large', 'timeout', 'late'].includes(error.kind)
  )
}
