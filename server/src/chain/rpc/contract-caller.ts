import { SECOND_MS } from '../../clock.ts'
import { type ConnectOptions, connectNodes } from './connect.ts'

/** For one call at one node. */
const TIMEOUT_MS = 4 * SECOND_MS

/**
 * Calls functions of contracts that anyone may have written. It has connections and a memory of failures of its own: what
 * such a contract does to a node has no effect on those who read the land. Makes no call yet.
 *
 * @returns what the contract returns in the newest state, in hex; undefined where it refuses the call
 * @throws {NodeError | NoNodeError} where no node answers
 * @example
 * const callContract = contractCaller({ urls, network, signal })
 * await callContract('0x00000000000000000000000000000000c0ffee01', '0x1626ba7e…')
 */
export function contractCaller(options: Pick<ConnectOptions, 'urls' | 'network' | 'signal' | 'timing'>) {
  const nodes = connectNodes({ ...options, timeoutMs: TIMEOUT_MS })
  return (to: string, data: string) => nodes.run((node) => node.readAnyone({ to, data }))
}
