import type { FastifyInstance } from 'fastify'
import type { SimulatedChain } from './blocks/chain.ts'
import type { NetworkFile } from './contracts/contracts.ts'
import { ControlError, fieldsOf, readWhole } from './node/settings.ts'
import type { SimulatedNode } from './node/simulated-node.ts'
import type { Pace } from './pace.ts'
import { TRUTH_PARTS, type TruthPart, truthAt } from './truth.ts'

export interface ControlledChain {
  /** @throws {ControlError} before there is one */
  readonly chain: SimulatedChain
  /** Resolves when blocks can be made. */
  readonly loaded: Promise<void>
  readonly network: NetworkFile
  readonly nodes: ReadonlyMap<string, SimulatedNode>
  /** A node that is there already, or a new one. @throws {ControlError} */
  node(name: string): SimulatedNode
  readonly pace: Pace
}

const MOST_BLOCKS = 100_000

type NodeRequest = { Params: { name: string } }

/**
 * Calls that control the simulator; a real node has none of them.
 *
 * - `POST /simulator/mine` `{blocks}` or `{until}`: makes blocks
 * - `POST /simulator/reorganise` `{depth, length?, keep?}`: replaces the newest blocks
 * - `GET /simulator/head`, `GET /simulator/calls`
 * - `GET` and `PATCH /simulator/settings`: of the node at `/`; `/simulator/nodes/:name/settings`: of the one at `/nodes/:name`
 * - `POST /simulator/reset`: settings and counts of all nodes; the chain stays
 * - `GET /truth?block=&parts=`: the state of the contracts; `GET /network.json`: the file of the network
 */
export function addControlRoutes(app: FastifyInstance, controlled: ControlledChain): void {
  app.get('/network.json', async () => controlled.network)
  app.get<{ Querystring: { block?: string; parts?: string } }>('/truth', async ({ query }) =>
    truth(await loadedChain(controlled), query),
  )
  app.get('/simulator/head', async () => headJson(controlled.chain))
  app.post('/simulator/mine', async ({ body }) => {
    const chain = await loadedChain(controlled)
    const { blocks, until } = fieldsOf(body)
    const count =
      until === undefined ? readWhole('blocks', blocks ?? 1) : readWhole('until', until) - chain.head.number
    if (count > MOST_BLOCKS) throw new ControlError(`at most ${MOST_BLOCKS} blocks at once`)
    for (let i = 0; i < count; i++) chain.mine(controlled.pace.timeS())
    return headJson(chain)
  })
  app.post('/simulator/reorganise', async ({ body }) => {
    const chain = await loadedChain(controlled)
    const { depth, length, keep = 0.8 } = fieldsOf(body)
    if (typeof keep !== 'number' || keep < 0 || keep > 1)
      throw new ControlError('keep is a share from 0 to 1')
    const deep = readWhole('depth', depth)
    try {
      chain.reorganise({ depth: deep, length: readWhole('length', length ?? deep + 1), keep })
    } catch (error) {
      if (error instanceof RangeError) throw new ControlError(error.message)
      throw error
    }
    return headJson(chain)
  })
  app.get('/simulator/settings', async () => controlled.node('').settings)
  app.patch('/simulator/settings', async ({ body }) => controlled.node('').change(body))
  app.get<NodeRequest>(
    '/simulator/nodes/:name/settings',
    async ({ params }) => controlled.node(params.name).settings,
  )
  app.patch<NodeRequest>('/simulator/nodes/:name/settings', async ({ params, body }) =>
    controlled.node(params.name).change(body),
  )
  app.get('/simulator/calls', async () => callsJson(controlled.node('')))
  app.get<NodeRequest>('/simulator/nodes/:name/calls', async ({ params }) =>
    callsJson(controlled.node(params.name)),
  )
  app.post('/simulator/reset', async () => {
    for (const node of controlled.nodes.values()) node.reset()
    return { ok: true }
  })
}

/** The chain, when blocks can be made. */
export async function loadedChain(controlled: ControlledChain): Promise<SimulatedChain> {
  await controlled.loaded
  return controlled.chain
}

function headJson({ head }: SimulatedChain) {
  return { number: head.number, hash: head.hash, time_s: head.timeS, fork: head.fork }
}

function callsJson({ calls, requests, askedLogs }: SimulatedNode) {
  return { requests, calls, asked_logs: askedLogs }
}

function truth(chain: SimulatedChain, query: { block?: string; parts?: string }) {
  const number = query.block === undefined ? chain.head.number : readWhole('block', Number(query.block))
  const block = chain.block(number)
  const oldest = chain.machine.history.oldestReadable
  if (!block || number < oldest || number < chain.oldest.number) {
    throw new ControlError(`block is a number from ${oldest} to ${chain.head.number}`)
  }
  const parts = query.parts?.split(',') ?? TRUTH_PARTS
  if (!parts.every(isTruthPart)) throw new ControlError(`parts are ${TRUTH_PARTS.join(', ')}`)
  return {
    block: { number, hash: block.hash, time_s: block.timeS },
    ...truthAt(chain.contracts, number, parts),
  }
}

function isTruthPart(text: string): text is TruthPart {
  return TRUTH_PARTS.some((part) => part === text)
}
