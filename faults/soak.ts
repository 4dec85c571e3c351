import { setTimeout } from 'node:timers/promises'
import { memoryMb } from '@landpass/server/test/support/processes/measured-processes'
import { runClients, withLandServer } from './land-load.ts'
import { type Script, sized } from './script.ts'

const ROUNDS = 5
/** Requests of a round, each with another query string, the same ones in each round. */
const REQUESTS = 1_000_000
const CONNECTIONS = 32
const MAX_S = 3_600
const MB_PER_MILLION = 1
/** Between the collection of garbage and the measurement. */
const REST_MS = 2_000
/** Read by the server at its start: it collects garbage at a signal. Garbage alone takes 50 to 100 MB, by chance. */
const COLLECTS_GARBAGE = `
  import { setFlagsFromString } from 'node:v8'
  import { runInNewContext } from 'node:vm'
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  process.on('SIGUSR2', () => [1, 2, 3].forEach(() => collect()))`

const PATHS = [
  '/v1/parcels/3/4?n={n}',
  '/v1/parcels/3/4/bids?n={n}',
  '/v1/map.png?center=0,0&width=64&height=64&n={n}',
  '/v2/search?q=a{n}&limit=1',
  '/v2/parcels/3/4?n={n}',
  '/v2/tiles?x1=0&y1=0&x2=4&y2=4&n={n}',
  '/tiles/0/0/0.png?v={n}',
  '/no-such-path?n={n}',
]

/** Many requests of which no two of a round are the same: nothing is kept for each of them. */
export const soak: Script = {
  about: '5,000,000 requests with 1,000,000 query strings: memory grows by at most 1 MB for each million',
  run: (options, verdict) =>
    withLandServer(
      options,
      async (server) => {
        const { scale } = options
        const requests = sized(REQUESTS, scale)
        const heldMb: number[] = []
        for (let round = 1; round <= ROUNDS; round++) {
          const startedMs = performance.now()
          const load = { paths: PATHS, addresses: ['127.0.0.2'], connections: CONNECTIONS, perSecond: 0 }
          const { answers, broken } = await runClients(server, { ...load, seconds: MAX_S, requests })
          const tookS = (performance.now() - startedMs) / 1000
          server.child.kill('SIGUSR2')
          await setTimeout(REST_MS)
          heldMb.push(memoryMb(server.child.pid, 'VmRSS'))
          console.log(
            `round ${round}: ${JSON.stringify(answers)} in ${tookS.toFixed(0)} s, ${heldMb.at(-1)!.toFixed(1)} MB`,
          )
          verdict.equal(`round ${round}: connections that broke`, broken, 0)
          const other = Object.keys(answers).filter((status) => !['200', '404'].includes(status))
          verdict.equal(`round ${round}: other answers`, other.join(), '')
        }
        // The first two rounds warm up: code is compiled, caches are filled
        const growth = (heldMb.at(-1)! - heldMb[1]!) / (ROUNDS - 2) / scale
        console.log(`after the warm-up ${growth.toFixed(2)} MB for each million requests`)
        if (scale === 1)
          verdict.expect(growth <= MB_PER_MILLION, `memory grew by ${growth.toFixed(2)} MB a million`)
      },
      { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(COLLECTS_GARBAGE)}` },
    ),
}
