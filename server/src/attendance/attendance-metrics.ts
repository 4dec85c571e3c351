import { Counter, Histogram } from 'prom-client'
import { workerStates } from '../db/distribution.ts'
import type { Db } from '../db/engine.ts'
import type { Metrics } from '../http/metrics.ts'
import { RecentFigure } from '../work/recent-figure.ts'
import { countAllCodes } from './events/event-queries.ts'
import { countHeldEvents } from './events/hold-queries.ts'

/** Buckets for calls that usually take a fraction of a second, and at most `ISSUER_TIMEOUT_MS`; the list of codes may take longer. */
const SECONDS = [0.25, 1, 2.5, 5]

/** The metrics of attendance: counts and times. No label holds an address of a player, a code or a key. */
export class AttendanceMetrics {
  private readonly claims: Counter<'result'>
  private readonly grants: Counter<'result'>
  private readonly steps: Counter<'result'>
  private readonly issuerCalls: Counter<'call' | 'result'>
  private readonly issuerSeconds: Histogram<'call'>
  private readonly captchas: Counter<'result'>
  private readonly signatures: Counter<'result'>
  private readonly presence: Counter<'provider' | 'result' | 'cached'>

  constructor(metrics: Metrics, db: Db) {
    const { registry, maxAgeMs } = metrics
    const registers = [registry]
    this.claims = new Counter({
      name: 'landpass_claims_total',
      help: 'Answered claims, by state of the claim, error code, or rehearsal.',
      labelNames: ['result'],
      registers,
    })
    this.grants = new Counter({
      name: 'landpass_grants_total',
      help: 'Answered grants: accepted, repeated, the error code, or too_many_grants_of_server where GRANTS_MAX is reached.',
      labelNames: ['result'],
      registers,
    })
    this.steps = new Counter({
      name: 'landpass_claim_steps_total',
      help: 'Steps of claims at the issuer: accept, confirm, swap, doubt, fail, release, wait, held, lost, or unknown for no answer.',
      labelNames: ['result'],
      registers,
    })
    this.issuerCalls = new Counter({
      name: 'landpass_issuer_calls_total',
      help: 'Calls to the token issuer, by result.',
      labelNames: ['call', 'result'],
      registers,
    })
    this.issuerSeconds = new Histogram({
      name: 'landpass_issuer_call_duration_seconds',
      help: 'How long calls to the token issuer took.',
      labelNames: ['call'],
      buckets: SECONDS,
      registers,
    })
    this.captchas = new Counter({
      name: 'landpass_captchas_total',
      help: 'Captchas made, solved, answered wrongly or missing.',
      labelNames: ['result'],
      registers,
    })
    this.signatures = new Counter({
      name: 'landpass_signed_requests_total',
      help: 'Signed requests, accepted or by the error code of their refusal.',
      labelNames: ['result'],
      registers,
    })
    this.presence = new Counter({
      name: 'landpass_presence_answers_total',
      help: 'Answers of presence providers about players.',
      labelNames: ['provider', 'result', 'cached'],
      registers,
    })
    const codeCounts = new RecentFigure(() => countAllCodes(db), { maxAgeMs })
    const heldCount = new RecentFigure(() => countHeldEvents(db), { maxAgeMs })
    const states = new RecentFigure(() => workerStates(db), { maxAgeMs })
    // Where the database is down or hangs, a figure is undefined: then it has no series
    metrics.addSeries([
      {
        kind: 'gauge',
        name: 'landpass_database_worker_up',
        help: 'Whether a worker of a database of several servers answers: 1 or 0. Absent on a database of one server.',
        labelNames: ['node'],
        read: async () => {
          const nodes = [...((await states.read()) ?? [])]
          return nodes.map(([node, isUp]) => ({ labels: { node }, value: Number(isUp) }))
        },
      },
      {
        kind: 'gauge',
        name: 'landpass_claim_codes',
        help: 'Claim codes of all events, and places of events made here, by state; counted every few seconds at most.',
        labelNames: ['state'],
        read: async () => {
          const counts = Object.entries((await codeCounts.read()) ?? {})
          return counts.map(([state, value]) => ({ labels: { state }, value }))
        },
      },
      {
        kind: 'gauge',
        name: 'landpass_held_events',
        help: 'Events whose claims wait because the issuer contradicts itself about their codes.',
        labelNames: [],
        read: async () => {
          const value = await heldCount.read()
          return value === undefined ? [] : [{ labels: {}, value }]
        },
      },
    ])
  }

  onClaim = (result: string): void => this.claims.inc({ result })
  onGrant = (result: string): void => this.grants.inc({ result })
  onStep = (result: string): void => this.steps.inc({ result })
  onCaptcha = (result: string): void => this.captchas.inc({ result })
  onSignature = (result: string): void => this.signatures.inc({ result })

  onIssuerCall = ({ call, result, tookMs }: { call: string; result: string; tookMs: number }): void => {
    this.issuerCalls.inc({ call, result })
    this.issuerSeconds.observe({ call }, tookMs / 1000)
  }

  onPresence = (facts: { provider: string; result: string; isCached: boolean }): void =>
    this.presence.inc({ provider: facts.provider, result: facts.result, cached: String(facts.isCached) })
}
