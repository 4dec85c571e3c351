import type { ConnectionProblem, OutboundFailure } from '../../outbound.ts'
import { maskSecrets, type NodeAddress } from './node-address.ts'
import type { Refusal } from './refusals.ts'

/**
 * Why there is no usable answer: a refusal of the node; `timeout`, `unreachable`, `too_large`, `redirect` of the connection;
 * or `wrong_answer`: the answer contradicts itself, the request, or the format.
 */
export type NodeFailure =
  | Refusal
  | { readonly kind: OutboundFailure; readonly problem?: ConnectionProblem | undefined }
  | { readonly kind: 'wrong_answer' }
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
  redirect:
    'it redirects to another address, such as https:// or a page to log in, which is not followed: check the path and the key of its address',
  wrong_answer: 'the answer is wrong',
}

/** Why a node is not reached, and what to do. */
const PROBLEMS: Readonly<Record<ConnectionProblem, string>> = {
  nothing_listens: 'nothing listens at this port: start the node, or check the host and port of its address',
  unknown_host: 'the host name does not resolve: check it, or the name server of this machine',
  certificate:
    'its certificate is expired, of another host or of an unknown authority: check the host name, or renew it',
  speaks_no_tls:
    'it does not speak TLS at this port: write http:// in its address, or name its port for https://',
  speaks_tls: 'it speaks TLS at this port: write https:// in its address',
  http2_only: 'it speaks HTTP/2 only: name an address that takes HTTP/1.1',
  no_http: 'what answers at this port is no web server: check the port of its address',
}
/** Problems of an address that no waiting mends. */
const LASTING: ReadonlySet<ConnectionProblem> = new Set<ConnectionProblem>([
  'certificate',
  'speaks_no_tls',
  'speaks_tls',
  'http2_only',
  'no_http',
])

/** A node gave no usable answer. Shows of the node's address only scheme and host. */
export class NodeError extends Error {
  /** The short name of the node. */
  readonly node: string
  readonly failure: NodeFailure

  /** @param words of the node, or what is wrong about its answer; secrets of the address are masked */
  constructor(address: NodeAddress, method: string, failure: NodeFailure, words = '') {
    const detail = words === '' ? '' : `: ${JSON.stringify(maskSecrets(address, words))}`
    const problem = 'problem' in failure && failure.problem ? PROBLEMS[failure.problem] : undefined
    super(`${address.shown}: ${method}: ${problem ?? SENTENCES[failure.kind]}${detail}`)
    this.name = 'NodeError'
    this.node = address.name
    this.failure = failure
  }

  get kind(): FailureKind {
    return this.failure.kind
  }

  /** Whether the address of the node has to be corrected: repeating the call does not help. */
  get isLasting(): boolean {
    const { failure } = this
    const problem = 'problem' in failure ? failure.problem : undefined
    return failure.kind === 'redirect' || (problem !== undefined && LASTING.has(problem))
  }
}

/** For a promise's `catch`. @throws what is no failure of a node */
export function ignoreNodeError(error: unknown): undefined {
  if (error instanceof NodeError) return undefined
  throw error
}

/** Whether fewer blocks may help: the failures that shrink a range of logs. */
export function asksForLess(error: unknown): error is NodeError {
  return (
    error instanceof NodeError &&
    ['range_too_large', 'too_many_results', 'too_large', 'timeout', 'late'].includes(error.kind)
  )
}
