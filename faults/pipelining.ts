import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { quantile } from '@landpass/server/test/support/processes/load'
import { memoryMb, type Running, resetPeak } from '@landpass/server/test/support/processes/measured-processes'
import { Random } from '@landpass/simulators/random'
import { Caller, outcomeOf } from './attendance/calls.ts'
import { withLandServer } from './land-load.ts'
import { type Script, type ScriptOptions, sized, tally, type Verdict } from './script.ts'

const ATTACKERS = fileURLToPath(new URL('./attackers.js', import.meta.url))
const ATTACKS = ['pipelining', 'slow-readers', 'slow-writers'] as const
const SOCKETS = 1_000
const ATTACK_S = 180
const IDLE_S = 60
/** Normal requests: so many connections, each with a request at this interval. */
const CLIENTS = 4
const EVERY_MS = 20
/** The world of a short run just holds the area of the attack. */
const radiusOf = (scale: number) => (scale < 0.1 ? 33 : 60)
const WARM_UP = 200
/** Memory must come back within this much, in this time. */
const MEMORY_MB = 20
const MEMORY_WITHIN_MS = 120_000
const MEMORY_WORK_MS = 2_000
const MEMORY_REST_MS = 10_000
/** In a short run memory is compared with this instead: the heap is still growing. */
const SHORT_MEMORY_MB = 250
const P99_TIMES = 2

/** Sockets that pipeline, do not read, or write a byte now and then, while normal requests are measured. */
export const pipelining: Script = {
  about:
    '1,000 sockets that pipeline, then 1,000 slow readers, then slow writers: others are answered as before',
  run: (options, verdict) =>
    withLandServer(options, (server) => attackOneByOne(server, options, verdict), settingsOf(options)),
}

function settingsOf({ scale }: ScriptOptions): Readonly<Record<string, string>> {
  const radius = radiusOf(scale)
  return {
    WORLD: [-radius, -radius, radius, radius].join(),
    ...(scale < 1 ? { REQUEST_TIMEOUT_MS: '1000' } : {}),
  }
}

async function attackOneByOne(
  server: Running,
  { seed, scale }: ScriptOptions,
  verdict: Verdict,
): Promise<void> {
  const { pid } = server.child
  const normal = new NormalRequests(server.origin, radiusOf(scale), new Random(seed))
  await normal.warmUp(sized(WARM_UP, scale))
  const idle = await normal.during(setTimeout(IDLE_S * scale * 1_000))
  const beforeMb = memoryMb(pid, 'VmRSS')
  console.log(
    `idle: p99 ${idle.p99Ms.toFixed(1)} ms, memory ${beforeMb.toFixed(0)} MB, ${tally(idle.outcomes)}`,
  )
  for (const attack of ATTACKS) {
    resetPeak(pid)
    const { p99Ms, outcomes } = await normal.during(runAttack(attack, server, scale))
    const peakMb = memoryMb(pid, 'VmHWM')
    console.log(`${attack}: p99 ${p99Ms.toFixed(1)} ms, peak ${peakMb.toFixed(0)} MB, ${tally(outcomes)}`)
    verdict.equal(`${attack}: normal requests not answered`, outcomes.filter((it) => it !== '200').length, 0)
    if (scale < 1) continue
    verdict.expect(
      p99Ms <= P99_TIMES * idle.p99Ms,
      `${attack}: p99 ${p99Ms.toFixed(1)} ms is more than twice ${idle.p99Ms.toFixed(1)} ms`,
    )
  }
  const allowedMb = scale < 1 ? SHORT_MEMORY_MB : MEMORY_MB
  const afterMb = await memoryWithin(pid, beforeMb + allowedMb, normal)
  console.log(`memory afterwards: ${afterMb.toFixed(0)} MB`)
  verdict.expect(
    afterMb <= beforeMb + allowedMb,
    `memory ${afterMb.toFixed(0)} MB, more than ${allowedMb} MB above ${beforeMb.toFixed(0)} MB`,
  )
  normal.close()
}

/** Runs the attackers in a process of their own until they end. */
async function runAttack(attack: string, { origin }: Running, scale: number): Promise<void> {
  const args = [ATTACKERS, attack, origin, String(sized(SOCKETS, scale)), String(ATTACK_S * scale)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`the attackers ended with ${code}`)
}

/**
 * Waits until the memory is small enough. V8 gives memory back in two ways: it collects garbage while requests arrive,
 * and it makes its heap smaller while none do. So some seconds with requests are followed by some without.
 */
async function memoryWithin(pid: number | undefined, mb: number, normal: NormalRequests): Promise<number> {
  const untilMs = performance.now() + MEMORY_WITHIN_MS
  while (memoryMb(pid, 'VmRSS') > mb && performance.now() < untilMs) {
    await normal.during(setTimeout(MEMORY_WORK_MS), 0)
    await setTimeout(MEMORY_REST_MS)
  }
  return memoryMb(pid, 'VmRSS')
}

interface Measured {
  readonly p99Ms: number
  readonly outcomes: readonly string[]
}

/** Parcel reads at a constant rate, and how long each took. */
class NormalRequests {
  private readonly origin: string
  private readonly radius: number
  private readonly random: Random
  private readonly caller = new Caller(CLIENTS)

  constructor(origin: string, radius: number, random: Random) {
    this.origin = origin
    this.radius = radius
    this.random = random
  }

  /** Lets the server compile its code and grow its heap. */
  async warmUp(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.send('/v1/map?nw=-32,31&se=31,-32')
      for (let n = 0; n < 10; n++) await this.read()
    }
  }

  /** @param everyMs pause of each client after an answer */
  async during(work: Promise<unknown>, everyMs = EVERY_MS): Promise<Measured> {
    let isDone = false
    const working = work.finally(() => {
      isDone = true
    })
    const tookMs: number[] = []
    const outcomes: string[] = []
    const client = async () => {
      while (!isDone) {
        const startedMs = performance.now()
        outcomes.push(await this.read())
        tookMs.push(performance.now() - startedMs)
        if (everyMs > 0) await setTimeout(everyMs)
      }
    }
    await Promise.all([working, ...Array.from({ length: CLIENTS }, client)])
    return {
      p99Ms: quantile(
        tookMs.sort((a, b) => a - b),
        0.99,
      ),
      outcomes,
    }
  }

  close(): void {
    this.caller.close()
  }

  private read(): Promise<string> {
    const { random, radius } = this
    const [x, y] = [random.between(-radius, radius), random.between(-radius, radius)]
    return this.send(`/v1/parcels/${x}/${y}`)
  }

  private async send(path: string): Promise<string> {
    return outcomeOf(await this.caller.send(this.origin, { method: 'GET', path, headers: {} }))
  }
}
