import { setMaxListeners } from 'node:events'
import { type Clock, SYSTEM_CLOCK } from '@landpass/server/clock'
import Fastify from 'fastify'
import { SIMULATED_API_KEY } from './access.ts'
import { addControlRoutes } from './control-routes.ts'
import { addIssuerRoutes } from './issuer-routes.ts'
import { Simulator } from './simulator.ts'

export { SIMULATED_API_KEY, SIMULATED_CLIENT_ID, SIMULATED_CLIENT_SECRET } from './access.ts'

export interface IssuerSimulatorOptions {
  readonly host: string
  /** 0 uses any free port. */
  readonly port: number
  /** The same seed gives the same codes and the same faults. */
  readonly seed: number
  readonly apiKey?: string
  readonly clock?: Clock
}

export interface IssuerSimulator {
  /** For example `http://127.0.0.1:4010`: the value for ISSUER_URL; with `/oauth/token`, for ISSUER_TOKEN_URL. */
  readonly address: string
  close(): Promise<void>
}

/**
 * Starts a server that simulates the token issuer: the same calls, JSON, statuses and texts, on one address. All data
 * is in memory, with some events to try (event-plan.ts). It mints nothing, but records what it would have minted. The
 * calls below `/simulator` set its faults (control-routes.ts).
 *
 * @example
 * const simulator = await startIssuerSimulator({ host: '127.0.0.1', port: 0, seed: 1 })
 * await fetch(`${simulator.address}/health-check`) // {"status":"healthy"}
 * await simulator.close()
 */
export async function startIssuerSimulator(options: IssuerSimulatorOptions): Promise<IssuerSimulator> {
  const { host, port, seed, apiKey = SIMULATED_API_KEY, clock = SYSTEM_CLOCK } = options
  const simulator = new Simulator({ seed, apiKey, clock })
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // one listener for each delayed answer
  const app = Fastify({ forceCloseConnections: true })
  addIssuerRoutes(app, simulator, closing.signal)
  addControlRoutes(app, simulator)
  const address = await app.listen({ host, port })
  return {
    address,
    close: async () => {
      closing.abort()
      await app.close()
    },
  }
}
