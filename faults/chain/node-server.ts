import { setMaxListeners } from 'node:events'
import type { ContractReads } from '@landpass/simulators/chain/node/contract-reads'
import { answerRpc, refuseBody } from '@landpass/simulators/chain/node/rpc-routes'
import Fastify, { type FastifyReply } from 'fastify'
import type { FaultyNode, NodeCall } from './faulty-node.ts'

/** Who asks: its nodes, and what is done while a call waits for its answer. */
export interface NodeClient {
  readonly nodes: readonly FaultyNode[]
  readonly reads: ContractReads
  /** Whether a log may be missing in the answer of this call. */
  mayHide(call: NodeCall): boolean
  /** Is called before each answer. @returns whether the client still waits for it */
  beforeAnswer(): Promise<boolean>
  /** The client waits for an answer that never comes: all that it waits for takes too long. */
  letTimeOut(): void
}

/** A server for the nodes of all followers: `<address>/<client>/<index of the node>`. */
export class NodeServer {
  private readonly app = Fastify({ forceCloseConnections: true })
  private readonly clients = new Map<string, NodeClient>()
  private readonly closing = new AbortController()
  private address = ''

  static async start(): Promise<NodeServer> {
    const server = new NodeServer()
    setMaxListeners(0, server.closing.signal)
    refuseBody(server.app)
    server.app.post<{ Params: { client: string; node: string } }>(
      '/:client/:node',
      async ({ params, body }, reply) => server.answer(params, body, reply),
    )
    server.address = await server.app.listen({ host: '127.0.0.1', port: 0 })
    return server
  }

  /** The addresses of the client's nodes. */
  add(name: string, client: NodeClient): readonly string[] {
    this.clients.set(name, client)
    return client.nodes.map((_, at) => `${this.address}/${name}/${at}`)
  }

  remove(name: string): void {
    this.clients.delete(name)
  }

  async close(): Promise<void> {
    this.closing.abort()
    await this.app.close()
  }

  private async answer(
    { client: name, node: at }: { readonly client: string; readonly node: string },
    body: unknown,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const client = this.clients.get(name)
    const node = client?.nodes[Number(at)]
    if (!client || !node || !(await client.beforeAnswer())) {
      reply.hijack()
      reply.raw.destroy()
      return reply
    }
    const [call] = (Array.isArray(body) ? body : [body]) as readonly NodeCall[]
    const fault = node.drawFault(call!, () => client.mayHide(call!))
    const answered = await answerRpc({ node, reads: client.reads, closing: this.closing.signal }, body, reply)
    if (fault.hang) client.letTimeOut()
    return answered
  }
}
