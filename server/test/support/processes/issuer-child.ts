import { startIssuerSimulator } from '@landpass/simulators/issuer/issuer-simulator'

/** The issuer simulator, on the given port. Sends its address. */
const [port = '0', seed = '1'] = process.argv.slice(2)
const { address } = await startIssuerSimulator({ host: '127.0.0.1', port: Number(port), seed: Number(seed) })
process.send?.(address)
