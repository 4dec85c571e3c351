import type { Simulators } from '@landpass/server/cli/simulators'
import { hasChain } from './chain/store/stored-names.ts'
import { SIMULATED_API_KEY, SIMULATED_CLIENT_ID, SIMULATED_CLIENT_SECRET } from './issuer/access.ts'
import { DEFAULT_PLAYER, simulateProgram } from './simulate-command.ts'

/** What the commands of the server use. Each simulator and the demo world are imported when they are asked for. */
export const simulators: Simulators = {
  simulateProgram,
  writeDemoSnapshot: async (...demo) => (await import('./demo/write-snapshot.ts')).writeDemoSnapshot(...demo),
  hasChain,
  issuerAccess: {
    apiKey: SIMULATED_API_KEY,
    clientId: SIMULATED_CLIENT_ID,
    clientSecret: SIMULATED_CLIENT_SECRET,
  },
  defaultPlayer: async () => (await import('./player/player.ts')).makePlayer(DEFAULT_PLAYER).address,
}
