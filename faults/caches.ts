import { setTimeout } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { DifferenceCache } from '@landpass/server/api/common/difference-cache'
import { TokenAnswers } from '@landpass/server/attendance/issuers/own/tokens/token-answers'
import { UnknownEvents } from '@landpass/server/attendance/issuers/poap/unknown-events'
import { registerLimits } from '@landpass/server/attendance/limits'
import { AnswerCache } from '@landpass/server/attendance/presence/answer-cache'
import { BoundedCache } from '@landpass/server/bounded-cache'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { readConfig } from '@landpass/server/config/config'
import { PreparedStatements } from '@landpass/server/db/embedded/prepared-statements'
import { DATA } from '@landpass/server/http/answer'
import { clientAddress } from '@landpass/server/http/client-address'
import { CompressedBodies } from '@landpass/server/http/compressed-bodies'
import { CostBudget } from '@landpass/server/http/cost-budget'
import { HeldAnswers } from '@landpass/server/http/held-answers'
import { Metrics } from '@landpass/server/http/metrics'
import { ReadyAnswers, readyAnswer } from '@landpass/server/http/ready-answers'
import { wholeBody } from '@landpass/server/http/whole-body'
import { ownBytes } from '@landpass/server/own-memory'
import type { StateAt } from '@landpass/server/state/differences/state-version'
import { OneSecondCache } from '@landpass/server/work/one-second-cache'
import Fastify from 'fastify'
import { type Script, sized } from './script.ts'

const KEYS = 1_000_000
const MIB = 1024 * 1024
/** The longest address of a request: a name that is cut from it must not keep it. */
const LONG = `?${'x'.repeat(16_000)}`

interface Cache {
  readonly name: string
  /** What it may hold, as its comment says. */
  readonly limitMb: number
  /** Fills the cache with values of many names. @returns what holds the cache */
  fill(keys: number): Promise<unknown> | unknown
}

/** A name of 36 characters as requests have it: cut from an address with a long query. */
function nameIn(n: number): string {
  const address = `/tokens/${String(n).padStart(36, '0')}/image.png${LONG}`
  return Buffer.from(address, 'latin1').toString('latin1').slice(8, 44)
}

/** Bytes as they come: a small part of a block that others share. */
const partOf = (bytes: number) => Buffer.alloc(64 * 1024).subarray(0, bytes)

const CACHES: readonly Cache[] = [
  {
    name: 'functions of answers by address (ReadyAnswers)',
    limitMb: 4,
    fill: (keys) => {
      const answers = new ReadyAnswers(new Metrics())
      for (let n = 0; n < keys; n++) {
        const url = Buffer.from(`/parcels/${n}?${LONG.slice(0, 490)}`).toString('latin1')
        const parameter = url.slice(9, -20)
        const answer = () => ({ freshness: { tag: '1' }, format: DATA, body: () => parameter })
        answers.remember({ raw: { url }, routeOptions: {} }, answer, 0)
      }
      return answers
    },
  },
  {
    name: 'answers of addresses with their bodies (HeldAnswers)',
    limitMb: 24,
    fill: async (keys) => {
      const moment = {}
      const held = new HeldAnswers(() => moment)
      for (let n = 0; n < keys / 20; n++) {
        const url = Buffer.from(`/parcels/${n}?${LONG.slice(0, 490)}`).toString('latin1')
        const body = () => [Buffer.from('['), Buffer.alloc(2_000, n & 255), partOf(n % 9_000)]
        const made = held.of(url, () => ({ freshness: { tag: `${n}` }, format: DATA, moment, body })).held!
        const whole = wholeBody(body(), DATA)
        made.holdWhole(whole)
        await made.compress('gzip', whole)
      }
      return held
    },
  },
  {
    name: 'small values by name (BoundedCache)',
    limitMb: 16,
    fill: (keys) => {
      const cache = new BoundedCache<number>(16 * MIB, 600_000)
      for (let n = 0; n < keys; n++) cache.set(nameIn(n), n, 0)
      return cache
    },
  },
  {
    name: 'files by name (BoundedCache)',
    limitMb: 16,
    fill: (keys) => {
      const cache = new BoundedCache<Buffer>(16 * MIB, 600_000)
      for (let n = 0; n < keys; n++) cache.set(nameIn(n), ownBytes(partOf(500)), 500)
      return cache
    },
  },
  {
    name: 'answers of gates',
    limitMb: 16,
    fill: (keys) => {
      const answers = new TokenAnswers()
      for (let n = 0; n < keys; n++) {
        const url = `/events/${n}/holders/0x${String(n).padStart(40, '0')}`
        const headers = ['cache-control', 'max-age=60', 'content-type', 'application/json']
        answers.keepGate(url, readyAnswer({ group: 'claims', headers, body: partOf(150) }), 0)
      }
      return answers
    },
  },
  {
    name: 'pages of collections',
    limitMb: 16,
    fill: async (keys) => {
      const answers = new TokenAnswers()
      for (let n = 0; n < keys; n++) await answers.page(`${nameIn(n)} 100 0`, async () => partOf(80))
      return answers
    },
  },
  {
    name: 'results of one second, of 10 kB each',
    limitMb: 20,
    fill: async (keys) => {
      const cache = new OneSecondCache<string>()
      for (let n = 0; n < keys; n++)
        await cache.get(nameIn(n), async () => Buffer.alloc(10_000, n & 255).toString('latin1'))
      return cache
    },
  },
  {
    name: 'budgets of cost',
    limitMb: 8,
    fill: (keys) => {
      const budget = new CostBudget(200_000)
      for (let n = 0; n < keys; n++) budget.bucketOf(forwarded(n)).take(1)
      return budget
    },
  },
  {
    name: 'limits of requests',
    limitMb: 8,
    fill: async (keys) => {
      const app = Fastify({ trustProxy: true })
      const { limits } = readConfig({ LOG_LEVEL: 'silent' }).attendance
      const { clientLimit } = await registerLimits(app, limits)
      app.get('/', { onRequest: clientLimit }, async () => '')
      for (let n = 0; n < keys / 20; n++)
        await app.inject({ url: '/', headers: { 'x-forwarded-for': `${LONG}, ${ipOf(n)}` } })
      return app
    },
  },
  {
    name: 'answers of presence providers',
    limitMb: 30,
    fill: async (keys) => {
      const cache = new AnswerCache<object>({ clock: SYSTEM_CLOCK, maxWeight: 200_000, weigh: () => 3 })
      for (let n = 0; n < keys; n++)
        await cache.ask(String(n).padStart(42, '0'), async () => ({ addresses: undefined }))
      return cache
    },
  },
  {
    name: 'differences of states',
    limitMb: 1,
    fill: async (keys) => {
      const cache = new DifferenceCache<Buffer>(32)
      for (let n = 0; n < keys; n++) {
        // What the cache names an entry by
        const since = { origin: nameIn(n), lineage: 'a', revision: n, lastExpiryMs: 0 } as never
        await cache.get(since, NOW, async () => ownBytes(partOf(10_000)))
      }
      return cache
    },
  },
  {
    name: 'compressed bodies',
    limitMb: 32,
    fill: (keys) => {
      const bodies = new CompressedBodies()
      for (let n = 0; n < keys; n++) bodies.small(nameIn(n), 'tag', () => Buffer.alloc(1_000))
      return bodies
    },
  },
  {
    name: 'events that the issuer does not know',
    limitMb: 2,
    fill: (keys) => {
      const unknown = new UnknownEvents()
      for (let n = 0; n < keys; n++) unknown.noteWrong(n, true, 1)
      return unknown
    },
  },
  {
    name: 'prepared statements',
    limitMb: 2,
    fill: (keys) => {
      const statements = new PreparedStatements()
      for (let n = 0; n < keys; n++) statements.take(`select ${n}${' '.repeat(3_900)}`)
      return statements
    },
  },
]

/** What the cache compares of a state. */
const NOW = {
  state: { origin: 'o', worldId: 1, revision: 1 },
  openOffers: { lastExpiryMs: 0 },
} as unknown as StateAt

function ipOf(n: number): string {
  return `198.${n & 255}.${(n >> 8) & 255}.${100 + ((n >> 16) & 127)}`
}

function forwarded(n: number): string {
  const header = Buffer.from(`${LONG}, ${ipOf(n)}`, 'latin1').toString('latin1')
  const ip = header.slice(LONG.length + 2)
  // Only the address of a socket is read
  return clientAddress({ ip, socket: { remoteAddress: '127.0.0.1' } as never })
}

export const caches: Script = {
  about: 'each cache holds no more memory than it counts, after a million different names',
  run: async ({ scale }, verdict) => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const heldMb = async () => {
      for (let turn = 0; turn < 5; turn++) {
        await setTimeout(10)
        collect()
      }
      const { heapUsed, external } = process.memoryUsage()
      return (heapUsed + external) / MIB
    }
    console.log('   limit      held  cache')
    for (const { name, limitMb, fill } of CACHES) {
      const filled: unknown[] = [await fill(1)] // what a first use loads is no entry
      const before = await heldMb()
      filled[0] = await fill(sized(KEYS, scale))
      const held = (await heldMb()) - before
      filled.length = 0
      console.log(`${limitMb.toFixed(0).padStart(5)} MB ${held.toFixed(1).padStart(6)} MB  ${name}`)
      verdict.expect(held <= limitMb, `${name}: ${held.toFixed(1)} MB, wanted ${limitMb}`)
    }
  },
}
