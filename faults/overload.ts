import { quantile } from '@landpass/server/test/support/processes/load'
import { memoryMb } from '@landpass/server/test/support/processes/measured-processes'
import { getOnce, measureCapacity, measureLoad, probe, withLandServer } from './land-load.ts'
import { type Script, tally } from './script.ts'

const TIMES_CAPACITY = 5
const LOAD_S = 120
const CAPACITY_S = 10
/** Fewer where the machine is slow: a connection that sends nothing for long is cut. */
const MAX_CONNECTIONS = 4_000
/** So many that none of them meets its budget: the server is overloaded by all together. */
const ADDRESSES = Array.from({ length: 200 }, (_, i) => `127.0.2.${i + 1}`)
const HEALTH_MS = 100
const GOODPUT = 0.8
/** What a bare `node:http` server keeps of its capacity with so many connections, and few. */
const GOODPUT_OF_FEW = 0.55
const NORMAL_WITHIN_MS = 5_000
/** Normal again: so many answers in a row, each within this time. */
const NORMAL_ANSWERS = 20
const NORMAL_MS = 100

const PATHS = [
  ...Array.from({ length: 20 }, (_, i) => `/v1/parcels/${i - 10}/${i - 10}`),
  ...['plaza', 'tower', 'garden', 'sea'].map((text) => `/v2/search?q=${text}&limit=20`),
  ...Array.from({ length: 4 }, (_, i) => `/v1/map.png?center=${i * 20},0&width=200&height=200`),
  ...[`/v1/addresses/0x${'1'.repeat(40)}/parcels`, '/v2/tiles?x1=-10&y1=-10&x2=10&y2=10'],
]

/**
 * More requests than a server can answer, from many addresses. CPU time of an answer is compared with that of the same clients, when they
 * send no more than the server can answer; and with that of few clients, where thousands of connections alone make answers dearer.
 */
export const overload: Script = {
  about:
    'two minutes at five times the capacity: answers cost no more than without, only 429 and 503 refuse, health is answered at once',
  run: (options, verdict) =>
    withLandServer(options, async (server) => {
      const { pid } = server.child
      const { scale } = options
      await measureCapacity(server, PATHS, CAPACITY_S) // compiles the code
      const before = await measureCapacity(server, PATHS, CAPACITY_S)
      if (before.perSecond === 0)
        throw new Error('the server answered nothing while its capacity was measured')

      const seconds = LOAD_S * scale
      const connections = Math.min(MAX_CONNECTIONS, Math.ceil(TIMES_CAPACITY * before.perSecond))
      const clients = { paths: PATHS, addresses: ADDRESSES, connections }
      const once = { ...clients, perSecond: before.perSecond, seconds: CAPACITY_S }
      const onceBefore = await measureLoad(server, once)
      const loading = measureLoad(server, {
        ...clients,
        perSecond: TIMES_CAPACITY * before.perSecond,
        seconds,
      })
      const health = await probe(server, ['/health/live', '/health/ready'], loading)
      const { report, perCpuMs } = await loading
      const endedMs = performance.now()
      const answered = report.answers['200'] ?? 0

      const normalAfterMs = await untilNormal(server.origin, endedMs)
      const onceAfter = await measureLoad(server, once)
      // What an answer costs also depends on what else the machine does, so it is compared with before and after
      const goodput = perCpuMs / ((onceBefore.perCpuMs + onceAfter.perCpuMs) / 2)
      const goodputOfFew = perCpuMs / before.perCpuMs
      const [p50Ms, p99Ms, maxMs] = [0.5, 0.99, 1].map((part) => quantile(health.tookMs, part))
      console.log(
        `capacity ${before.perSecond.toFixed(0)} a second; by CPU time goodput ${goodput.toFixed(2)}, ` +
          `and ${goodputOfFew.toFixed(2)} of the capacity with few connections; ${(answered / seconds).toFixed(0)} a second; ${JSON.stringify(report)}; health p50 ${p50Ms!.toFixed(1)} ms, p99 ${p99Ms!.toFixed(1)} ms, ` +
          `at most ${maxMs!.toFixed(1)} ms, ${tally(health.outcomes)}; normal after ${(normalAfterMs / 1000).toFixed(1)} s; ` +
          `memory ${memoryMb(pid, 'VmRSS').toFixed(0)} MB`,
      )
      const other = Object.keys(report.answers).filter((status) => !['200', '429', '503'].includes(status))
      verdict.equal('other answers', other.join(), '')
      verdict.equal('refusals without Retry-After', report.withoutRetryAfter, 0)
      verdict.equal('health not answered', health.outcomes.filter((it) => it !== '200').length, 0)
      if (scale < 1) return
      verdict.expect(p99Ms! <= HEALTH_MS, `health p99 ${p99Ms!.toFixed(1)} ms`)
      verdict.expect(goodput >= GOODPUT, `goodput ${goodput.toFixed(2)}`)
      verdict.expect(
        goodputOfFew >= GOODPUT_OF_FEW,
        `goodput ${goodputOfFew.toFixed(2)} of that of few connections`,
      )
      verdict.expect(normalAfterMs <= NORMAL_WITHIN_MS, `normal after ${(normalAfterMs / 1000).toFixed(1)} s`)
    }),
}

/** How long after `endedMs` the first of {@link NORMAL_ANSWERS} quick answers in a row was requested; it gives up after a minute. */
async function untilNormal(origin: string, endedMs: number): Promise<number> {
  let firstMs = performance.now()
  for (let inRow = 0; inRow < NORMAL_ANSWERS && firstMs - endedMs < 60_000; ) {
    const startedMs = performance.now()
    const outcome = await getOnce(origin, '/v1/parcels/3/4')
    const isQuick = outcome === '200' && performance.now() - startedMs <= NORMAL_MS
    inRow = isQuick ? inRow + 1 : 0
    if (!isQuick) firstMs = performance.now()
  }
  return firstMs - endedMs
}
