import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { HOUR_MS } from '../../src/clock.ts'
import type { Environment } from '../../src/config/config.ts'
import type { Engine } from '../../src/db/engine.ts'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
} from '../support/attendance-server.ts'
import { describeOnBothEngines } from '../support/engines.ts'
import { REFERENCE_TIME_MS, type TestClock, testClock } from '../support/land-server.ts'

const OPERATOR_KEY = 'an-operator-key-for-tests-alone,-not-a-secret'
const EVENT = {
  name: 'Harbour Lights',
  coordinates: '10,20',
  start_date: new Date(REFERENCE_TIME_MS).toISOString().slice(0, 10),
  tokens: 1,
}

interface Made {
  readonly id: number
  readonly uuid: string
  readonly editCode: string
}

let outside: OutsideWorld
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnBothEngines('an event made here, where the operator approves events', (open, kind) => {
  const keyFile = join(mkdtempSync(join(tmpdir(), 'landpass-made-')), 'token.key')
  let server: AttendanceServer
  let engine: Engine
  let clock: TestClock

  beforeAll(async () => {
    clock = testClock()
    engine = await open()
    server = await start()
    return () => server.close()
  })

  function start(env: Environment = {}): Promise<AttendanceServer> {
    const settings = { TOKEN_KEY_FILE: keyFile, EVENT_MAKERS: 'approved', LIMIT_EVENTS_PER_MINUTE: '0' }
    return startAttendance(engine, clock, outside, { ...settings, OPERATOR_KEY, ...env })
  }

  async function make(on = server): Promise<Made> {
    const made = await on.send('POST', '/events', EVENT)
    expect(made.status, made.text).toBe(200)
    const { event, edit_code: editCode } = made.body.data as unknown as {
      event: { id: number; uuid: string }
      edit_code: string
    }
    return { ...event, editCode }
  }

  const approve = ({ uuid }: Made) =>
    server.send(
      'POST',
      `/events/${uuid}/approval`,
      { approval: 'approved' },
      { 'operator-key': OPERATOR_KEY },
    )

  test('no refusal sends anybody to an issuer that its event does not have', async () => {
    const made = await make()
    const claim = async (name: string) =>
      server.claim(
        made.uuid,
        await playerAt(outside, `${kind} made ${name}`, { x: 10, y: 20 }, clock.nowMs()),
      )
    const load = () => server.send('POST', `/addcodes/${made.id}`, { editCode: made.editCode })
    const waiting = [await load(), await claim('ann')]
    expect((await approve(made)).status).toBe(200)
    expect((await claim('ann')).status).toBe(200)
    const full = await claim('ben')
    clock.set(REFERENCE_TIME_MS + 60 * HOUR_MS)
    const over = await claim('cleo')
    clock.set(REFERENCE_TIME_MS)
    const unnamed = await server.send('POST', `/addcodes/${made.id}`, {})

    expect(waiting[0]!.body.data).toMatchObject({ body: { waiting_for_issuer: true } })
    const refused = [waiting[1]!, full, over, unnamed]
    expect(refused.map(({ body }) => body.code)).toEqual([
      ...['no_codes_loaded', 'no_codes_left', 'event_expired', 'invalid_parameter'],
    ])
    const { message } = (waiting[0]!.body.data as unknown as { body: { message: string } }).body
    for (const sentence of [message, ...refused.map(({ body }) => body.error)])
      expect(sentence).not.toMatch(/issuer|e-mail/)
  })
})
