import { startIssuerSimulator } from '@landpass/simulators/issuer/issuer-simulator'
import { startPresenceSimulator } from '@landpass/simulators/presence/presence-simulator'

/** Both simulators, in a process of their own. Sends their addresses; ends with the process that started it. */
process.once('disconnect', () => process.exit())
const issuer = await startIssuerSimulator({ host: '127.0.0.1', port: 0, seed: 1 })
const presence = await startPresenceSimulator({ host: '127.0.0.1', port: 0 })
process.send?.({ issuer: issuer.address, presence: presence.address })
