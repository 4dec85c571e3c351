import { expect, test } from 'vitest'
import { describeOnBothEngines } from '../../../test/support/engines.ts'
import { testClock } from '../../../test/support/land-server.ts'
import { eventually } from '../../../test/support/landpass.ts'
import { SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { mergeCodes } from '../codes/code-queries.ts'
import { saveEvent } from '../events/event-queries.ts'
import type { CodeAtIssuer, Issuer } from '../issuer/issuer.ts'
import { Vault } from '../vault.ts'
import { acceptClaims, insertClaim } from './claim-queries.ts'
import { ClaimWorker, LEASE_MS } from './claim-worker.ts'

const vault = new Vault(Buffer.alloc(32, 3))
const ANN = `0x${'a'.repeat(40)}`
const BEN = `0x${'b'.repeat(40)}`
const SILENT = { warn: () => {}, error: () => {} }
const FREE: CodeAtIssuer = {
  isClaimed: false,
  beneficiary: undefined,
  isActive: true,
  secret: '',
  txStatus: '',
  txHash: undefined,
}

describeOnBothEngines('the worker', (open) => {
  test('a step that takes longer than its lease is not started a second time', async () => {
    const { db } = await open()
    const clock = testClock()
    const issuer = new SlowIssuer()
    const claim = await reserve(db, clock.nowMs())
    const worker = new ClaimWorker({ db, clock, vault, issuer, callsPerSecond: 4, log: SILENT })
    worker.start()
    worker.take(claim)

    clock.set(clock.nowMs() + LEASE_MS + SECOND_MS)
    const longerMs = clock.nowMs() + LEASE_MS
    await eventually(
      () => nextStepOf(db, claim.id),
      (atMs) => atMs === longerMs,
      10 * SECOND_MS,
    )
    issuer.answer()
    await worker.close(10 * SECOND_MS)

    expect(issuer.asked).toEqual(['readCode', 'mint'])
  })

  test('a claim that another process has changed is not answered as refused', async () => {
    const { db } = await open()
    const clock = testClock()
    const issuer = new SlowIssuer({ ...FREE, isClaimed: true, beneficiary: 'a stranger' })
    const claim = await reserve(db, clock.nowMs(), BEN)
    const worker = new ClaimWorker({ db, clock, vault, issuer, callsPerSecond: 4, log: SILENT })
    worker.start()
    worker.take(claim)
    const outcome = worker.waitForStep(claim.id, 10 * SECOND_MS)

    await acceptClaims(db, [{ claim, nextStepAtMs: clock.nowMs() + LEASE_MS }], clock.nowMs())
    issuer.answer()

    expect(await outcome).toEqual({ state: 'reserved' })
    await worker.close(10 * SECOND_MS)
  })
})

/** An issuer that reads a code when the test says so. */
class SlowIssuer implements Pick<Issuer, 'readCode' | 'mint'> {
  readonly asked: string[] = []
  answer!: () => void
  private readonly code: CodeAtIssuer
  private readonly answered = new Promise<void>((resolve) => {
    this.answer = resolve
  })
  constructor(code = FREE) {
    this.code = code
  }

  async readCode(): Promise<CodeAtIssuer> {
    this.asked.push('readCode')
    await this.answered
    return this.code
  }

  async mint(): Promise<'accepted'> {
    this.asked.push('mint')
    return 'accepted'
  }
}

async function reserve(db: Db, nowMs: number, address = ANN) {
  await saveEvent(db, { eventId: 1, record: { id: 1 }, coordinates: '0,0', expiresAtMs: undefined, nowMs })
  await mergeCodes(db, vault, { eventId: 1, listed: [{ code: `of ${address}`, isClaimed: false }], nowMs })
  const claim = { eventId: 1, address, nowMs, nextStepAtMs: nowMs + LEASE_MS }
  const { made } = await insertClaim(db, claim, { request: undefined, wait: false })
  return made!
}

async function nextStepOf(db: Db, id: number): Promise<number | null> {
  const row = await db
    .selectFrom('claim')
    .select('next_step_at_ms')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return row.next_step_at_ms
}
