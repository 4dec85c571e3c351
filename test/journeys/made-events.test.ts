import { CodeCountCache } from '@landpass/server/attendance/events/code-count-cache'
import { countPlaces } from '@landpass/server/attendance/events/place-queries'
import { Approvals } from '@landpass/server/attendance/issuers/own/made-events/approvals'
import { HOUR_MS, MINUTE_MS } from '@landpass/server/clock'
import { inTransaction } from '@landpass/server/db/transaction'
import { attendanceDump, untilAnswered } from '@landpass/server/test/support/attendance/attendance-rows'
import {
  type OutsideWorld,
  playerAt,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import {
  type AttendanceStage,
  attendanceStage,
  makesEvents,
} from '@landpass/server/test/support/attendance/attendance-stage'
import { describeOnOneEngine } from '@landpass/server/test/support/database/engines'
import { countWaiting } from '@landpass/server/test/support/database/lock-waits'
import { REFERENCE_TIME_MS } from '@landpass/server/test/support/http/land-server'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { PNG } from 'pngjs'
import { beforeAll, expect, test } from 'vitest'

const OPERATOR_KEY = 'an-operator-key-for-tests-alone,-not-a-secret'
const EVENT = {
  name: 'Harbour Lights',
  coordinates: '10,20',
  start_date: new Date(REFERENCE_TIME_MS).toISOString().slice(0, 10),
  tokens: 1,
}

interface Live {
  readonly coordinates: string
  readonly description: string
}

interface Made {
  readonly id: number
  readonly uuid: string
  readonly editCode: string
}

let outside: OutsideWorld

/** As the commands of the operator have them. */
function approvalsOf({ engine: { db }, clock }: AttendanceStage) {
  return new Approvals({ db, clock, codeCounts: new CodeCountCache(db) })
}
beforeAll(async () => {
  outside = await startOutsideWorld()
})

describeOnOneEngine('an event made here, where the operator approves events', (open) => {
  const env = { ...makesEvents('approved'), OPERATOR_KEY }
  const stage = attendanceStage(open, { outside: () => outside, env })

  async function make(on = stage.server, fields: object = {}): Promise<Made> {
    const made = await on.send('POST', '/events', { ...EVENT, ...fields })
    expect(made.status, made.text).toBe(200)
    const { event, edit_code: editCode } = made.body.data as unknown as {
      event: { id: number; uuid: string }
      edit_code: string
    }
    return { ...event, editCode }
  }

  const answer = ({ uuid }: Made, fields: object) =>
    stage.server.send('POST', `/events/${uuid}/approval`, fields, { 'operator-key': OPERATOR_KEY })
  const approve = (made: Made, approval: 'approved' | 'refused' = 'approved') => answer(made, { approval })

  test('nobody chooses the host of its picture: each answer has the host that its own request names', async () => {
    const asElsewhere = async (method: string, path: string, body?: object) => {
      const headers = {
        ...{ host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
        ...{ 'content-type': 'application/json', 'operator-key': OPERATOR_KEY },
      }
      const answer = await stage.server.ask(method, path, {
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      expect(answer.status, answer.bytes.toString()).toBe(200)
      return JSON.parse(answer.bytes.toString()).data
    }
    const ofOperator = await asElsewhere('POST', '/events', EVENT)
    const { event, edit_code: editCode } = await asElsewhere('POST', '/events', EVENT)
    await asElsewhere('POST', `/events/${event.uuid}/approval`, { approval: 'approved' })
    await asElsewhere('POST', `/event/${event.id}`, { editCode, coordinates: EVENT.coordinates })
    const options = [['description', 'By the water.']]
    await asElsewhere('PATCH', `/event/${event.id}`, { editCode, options })
    const waiting = await make()

    const pathOf = (uuid: string) => `/events/${uuid}/image.png`
    expect(event.image_url).toBe(`http://evil.example${pathOf(event.uuid)}`)
    for (const { id, uuid } of [event, ofOperator.event, waiting]) {
      const { body } = await stage.server.get(`/event/${id}`)
      expect(body.data).toMatchObject({ image_url: stage.server.origin + pathOf(uuid) })
    }
    expect(await attendanceDump(stage.engine.db)).not.toMatch(/evil|http:/)
  })

  test('no refusal sends anybody to an issuer that its event does not have', async () => {
    const made = await make()
    const claim = async (name: string) =>
      stage.server.claim(
        made.uuid,
        await playerAt(outside, `made ${name}`, { x: 10, y: 20 }, stage.clock.nowMs()),
      )
    const load = () => stage.server.send('POST', `/addcodes/${made.id}`, { editCode: made.editCode })
    const waiting = [await load(), await claim('ann')]
    expect((await approve(made)).status).toBe(200)
    expect((await claim('ann')).status).toBe(200)
    const full = await claim('ben')
    stage.clock.set(REFERENCE_TIME_MS + 60 * HOUR_MS)
    const over = await claim('cleo')
    stage.clock.set(REFERENCE_TIME_MS)
    const unnamed = await stage.server.send('POST', `/addcodes/${made.id}`, {})

    expect(waiting[0]!.body.data).toMatchObject({ body: { waiting_for_issuer: true } })
    const refused = [waiting[1]!, full, over, unnamed]
    expect(refused.map(({ body }) => body.code)).toEqual([
      ...['no_codes_loaded', 'no_codes_left', 'event_expired', 'invalid_parameter'],
    ])
    const { message } = (waiting[0]!.body.data as unknown as { body: { message: string } }).body
    for (const sentence of [message, ...refused.map(({ body }) => body.error)])
      expect(sentence).not.toMatch(/issuer|e-mail/)
  })

  test('a refused event says so everywhere, also where tokens were given out before', async () => {
    const made = await make()
    const claim = async (name: string) =>
      stage.server.claim(
        made.uuid,
        await playerAt(outside, `refused ${name}`, { x: 10, y: 20 }, stage.clock.nowMs()),
      )
    const reason = async () => {
      const { body } = await stage.server.get(`/event/${made.uuid}/availability`)
      return (body.data as { reason: string | null }).reason
    }
    const load = async () => {
      const { body } = await stage.server.send('POST', `/addcodes/${made.id}`, { editCode: made.editCode })
      return (body.data as unknown as { body: object }).body
    }
    expect(await reason()).toBe('waiting_for_issuer')
    await approve(made, 'refused')
    expect(await reason()).toBe('event_refused')
    expect((await claim('ann')).body).toMatchObject({
      code: 'event_refused',
      error: expect.stringContaining('The operator of this server has refused this event'),
    })
    const answer = await load()
    expect(answer).toMatchObject({ total: 0, message: expect.stringContaining('has refused this event') })
    expect(answer).not.toHaveProperty('waiting_for_issuer')

    await approve(made)
    expect(await reason()).toBe(null)
    expect((await claim('ann')).status).toBe(200)
    await approve(made, 'refused')
    expect(await reason()).toBe('event_refused')
    expect((await claim('ben')).body.code).toBe('event_refused')
    expect(await load()).toMatchObject({ total: 1, message: expect.stringContaining('has refused') })
    const report = await stage.server.send('POST', `/event/${made.id}/report`, { editCode: made.editCode })
    expect(report.body.data).toMatchObject({ availability: { reason: 'event_refused', claimed: 1 } })
  })

  test('a change after the approval waits while the approved event stays, and a refusal of it changes nothing', async () => {
    await answerAll()
    const made = await make()
    const unread = (await listed())[0]!
    const patch = (...options: readonly (readonly [string, unknown])[]) =>
      stage.server.send('PATCH', `/event/${made.id}`, { editCode: made.editCode, options })
    const live = async () => {
      const { coordinates, description } = (await stage.server.get(`/event/${made.uuid}`)).body.data as Live
      const { total } = (await stage.server.get(`/event/${made.uuid}/availability`)).body.data as unknown as {
        total: number
      }
      return { coordinates, description, total }
    }
    const report = async () => {
      const { body } = await stage.server.send('POST', `/event/${made.id}/report`, {
        editCode: made.editCode,
      })
      return (body.data as { approval?: unknown }).approval
    }

    // Changed while the operator reads it: the answer to what was read does not count for the new text
    expect((await patch(['description', 'By the water.'])).body.data).toMatchObject({
      description: 'By the water.',
      approval: { state: 'waiting', reason: null, change: null },
    })
    const stale = await answer(made, { approval: 'approved', content: unread.content })
    expect([stale.status, stale.body.code]).toEqual([409, 'content_changed'])
    const [read] = await listed()
    const reason = 'Welcome.\nPlease keep to the harbour.'
    expect((await answer(made, { approval: 'approved', content: read!.content, reason })).body.data).toEqual({
      ...{ approval: 'approved', change: null },
    })
    const approved = { coordinates: '10,20', description: 'By the water.', total: 1 }
    expect(await live()).toEqual(approved)
    expect(await report()).toEqual({ state: 'approved', reason, change: null })
    expect(await listed()).toEqual([])

    // Two changes wait as one; places of a registration too
    await patch(['description', 'Buy my coins!'], ['tokens', 5])
    const registration = { editCode: made.editCode, coordinates: '7,7' }
    const registered = await stage.server.send('POST', `/event/${made.id}`, registration)
    expect(registered.body.data).toMatchObject({ coordinates: '10,20' })
    const change = { description: 'Buy my coins!', coordinates: '7,7', tokens: 5, reason: null }
    const entry = {
      event: { id: made.id, description: 'By the water.', coordinates: '10,20' },
      ...{ tokens: 1, approval: { state: 'approved', reason, change: { ...change, state: 'waiting' } } },
    }
    expect(await listed()).toMatchObject([entry])
    expect(await live()).toEqual(approved)
    const no = { approval: 'refused', reason: 'No advertising.' }
    expect((await answer(made, no)).body.data).toEqual({ approval: 'approved', change: 'refused' })
    expect(await live()).toEqual(approved)
    const ann = await playerAt(outside, `changed ann`, { x: 10, y: 20 }, stage.clock.nowMs())
    expect((await stage.server.claim(made.uuid, ann)).status).toBe(200)
    const refusedChange = { ...change, state: 'refused', reason: 'No advertising.' }
    expect(await report()).toMatchObject({ state: 'approved', reason, change: refusedChange })
    expect(await listed()).toEqual([])

    // What is set back to what is live waits no more; the next change begins anew
    await patch(['tokens', 3], ['coordinates', '8,8'])
    expect((await patch(['coordinates', '10,20'])).body.data).toMatchObject({
      approval: { change: { coordinates: null, description: null, tokens: 3 } },
    })
    expect((await answer(made, { approval: 'approved', tokens: 4 })).body.data).toMatchObject({
      ...{ parameter: 'tokens', value: '4', maximum: 3 },
    })
    expect((await answer(made, { approval: 'approved', tokens: 2 })).body.data).toEqual({
      ...{ approval: 'approved', change: 'approved' },
    })
    expect(await live()).toEqual({ ...approved, total: 2 })
    expect(await report()).toEqual({ state: 'approved', reason: null, change: null })

    // The operator's own change does not wait
    await stage.server.send(
      'PATCH',
      `/event/${made.id}`,
      { editCode: made.editCode, options: [['coordinates', '9,9']] },
      { 'operator-key': OPERATOR_KEY },
    )
    expect(await live()).toEqual({ ...approved, coordinates: '9,9', total: 2 })
  })

  test('another name, link and picture wait too, while days and a cancellation hold at once', async () => {
    const made = await make()
    await approve(made)
    const picture = new PNG({ width: 64, height: 64 })
    picture.data.fill(120)
    const image = PNG.sync.write(picture).toString('base64')
    const patch = (fields: object) =>
      stage.server.send('PATCH', `/events/${made.uuid}`, { editCode: made.editCode, ...fields })
    const pictureOf = async (query: string, headers: Record<string, string> = {}) =>
      (await stage.server.ask('GET', `/events/${made.uuid}/image.png${query}`, { headers })).bytes
    const operator = { 'operator-key': OPERATOR_KEY }
    const shown = await pictureOf('')

    const day = new Date(REFERENCE_TIME_MS + 48 * HOUR_MS).toISOString().slice(0, 10)
    const changed = { name: 'Harbour Lamps', event_url: 'https://lamps.example/' }
    const answered = await patch({ ...changed, image, start_date: day })
    expect(answered.body.data).toMatchObject({
      event: { name: EVENT.name, event_url: '', event_start_date: `${day}T00:00:00.000Z` },
      approval: { state: 'approved', change: { ...changed, state: 'waiting', image: true, tokens: null } },
    })
    expect((await patch({ tokens: 2 })).body.data).toMatchObject({
      approval: { change: { ...changed, image: true, tokens: 2 } },
    })
    expect(await pictureOf('')).toEqual(shown)
    expect(await pictureOf('?change=true')).toEqual(shown)
    expect(await pictureOf('', operator)).toEqual(shown)
    const wanted = await pictureOf('?change=true', operator)
    expect(wanted).not.toEqual(shown)
    const cachingOf = async (headers: Record<string, string>) => {
      const { status, headers: had } = await stage.server.ask('GET', `/events/${made.uuid}/image.png`, {
        headers,
      })
      return [status, had.vary, had['cache-control'], had.etag]
    }
    const [, , , tag] = await cachingOf({})
    const cached = ['operator-key', 'public, max-age=300', expect.stringMatching(/^"/)]
    for (const other of [{}, { 'operator-key': 'another' }])
      expect(await cachingOf(other)).toEqual([200, ...cached])
    expect(await cachingOf({ 'if-none-match': tag as string })).toEqual([304, ...cached])
    const ofOperator = [200, 'operator-key', 'no-store', undefined]
    for (const other of [{}, { 'if-none-match': tag as string }])
      expect(await cachingOf({ ...operator, ...other })).toEqual(ofOperator)
    expect((await patch({ cancelled: true })).body.data).toMatchObject({
      event: { cancelled: true, name: EVENT.name },
    })
    expect((await patch({ cancelled: false })).body.data).toMatchObject({ event: { cancelled: false } })

    await answer(made, { approval: 'refused', reason: 'Not this lamp.' })
    expect(await pictureOf('')).toEqual(shown)
    expect((await patch({ name: 'Lamps' })).body.data).toMatchObject({
      approval: { change: { name: 'Lamps', image: false, event_url: null } },
    })
    await patch({ ...changed, image })
    expect((await answer(made, { approval: 'approved' })).body.data).toMatchObject({ change: 'approved' })
    const { body } = await stage.server.get(`/event/${made.uuid}`)
    expect(body.data).toMatchObject({ ...changed, event_start_date: `${day}T00:00:00.000Z` })
    expect(await pictureOf('')).toEqual(wanted)
  })

  // The embedded engine makes one change after the other
  test('changes and an answer at the same moment all hold', async () => {
    const made = await make()
    await approve(made)
    const patch = (fields: object) =>
      stage.server.send('PATCH', `/events/${made.uuid}`, { editCode: made.editCode, ...fields })
    await patch({ name: 'Harbour Lamps' })
    const { db } = stage.engine
    const day = new Date(REFERENCE_TIME_MS + 48 * HOUR_MS).toISOString().slice(0, 10)
    const closes = `${day}T20:00:00.000Z`

    const answers = await inTransaction(db, async (tx) => {
      await tx
        .selectFrom('made_event')
        .select('event_id')
        .where('event_id', '=', made.id)
        .forUpdate()
        .execute()
      const sent: Promise<{ readonly status: number }>[] = []
      for (const send of [
        () => patch({ start_date: day }),
        () => answer(made, { approval: 'approved' }),
        () => patch({ distribution_end_date: closes }),
      ]) {
        sent.push(send())
        await eventually(
          () => countWaiting(tx),
          (waiting) => waiting === sent.length,
          60_000,
        )
      }
      return sent
    }).then((sent) => Promise.all(sent))

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await stage.server.get(`/event/${made.uuid}`)).body.data).toMatchObject({
      ...{ name: 'Harbour Lamps', event_start_date: `${day}T00:00:00.000Z` },
      ...{ event_end_date: `${day}T00:00:00.000Z`, distribution_end_date: closes },
    })
  })

  test('an approval may lower the supply, but not below what was given out', async () => {
    const made = await make(stage.server, { tokens: 4 })
    expect((await answer(made, { approval: 'approved', tokens: 3 })).status).toBe(200)
    const claim = async (name: string) => {
      const player = await playerAt(outside, `lowered ${name}`, { x: 10, y: 20 }, stage.clock.nowMs())
      return stage.server.claim(made.uuid, player)
    }
    expect([(await claim('ann')).status, (await claim('ben')).status]).toEqual([200, 200])
    const fewer = await answer(made, { approval: 'approved', tokens: 1 })
    expect(fewer.body.data).toMatchObject({ parameter: 'tokens', value: '1', minimum: 2 })
    expect((await answer(made, { approval: 'approved', tokens: 2 })).status).toBe(200)
    expect((await claim('cleo')).body.code).toBe('no_codes_left')
    const { body } = await stage.server.get(`/event/${made.uuid}/availability`)
    expect(body.data).toMatchObject({ total: 2, available: 0, claimed: 2 })
  })

  test('its organiser gives tokens to a list where the operator has allowed it, and the operator always', async () => {
    const made = await make(stage.server, { tokens: 3 })
    const give = (digit: string, headers: Record<string, string> = {}) =>
      stage.server.send(
        'POST',
        `/event/${made.uuid}/gifts`,
        { editCode: made.editCode, list: `0x${digit.repeat(40)}` },
        headers,
      )
    const gifts = async () => {
      const { editCode } = made
      const { body } = await stage.server.send('POST', `/event/${made.uuid}/report`, { editCode })
      return (body.data as unknown as { gifts: { given: number } }).gifts
    }
    const early = await give('1')
    expect(early.body).toMatchObject({ code: 'no_codes_loaded', error: expect.stringContaining('approv') })
    expect(await gifts()).toEqual({ allowed: false, waiting: 0, given: 0 })
    await approve(made)
    const notAllowed = await give('1')
    expect([notAllowed.status, notAllowed.body.code]).toEqual([403, 'gifts_not_allowed'])
    expect((await give('1', { 'operator-key': OPERATOR_KEY })).status).toBe(200)

    await answer(made, { approval: 'approved', may_give: true })
    expect((await give('2')).body.data).toMatchObject({ accepted: 1, had: [] })
    await eventually(gifts, ({ given }) => given === 2, 20_000)
    await approve(made)
    expect(await gifts(), 'an answer that leaves it out changes nothing').toMatchObject({ allowed: true })
    await answer(made, { approval: 'approved', may_give: false })
    expect((await give('3')).body.code).toBe('gifts_not_allowed')
    await approve(made, 'refused')
    const refused = await give('3')
    expect(refused.body).toMatchObject({
      code: 'event_refused',
      error: expect.stringContaining('Ask the operator'),
    })
  })

  test('addresses that wait get no token of the organiser any more once they are blocked, or their list was stopped', async () => {
    const made = await make(stage.server, { tokens: 1 })
    const { id, uuid, editCode } = made
    const { db } = stage.engine
    const addressOf = (digit: string) => `0x${digit.repeat(40)}`
    const organise = async (path: string, body: object, method: 'POST' | 'PATCH' = 'POST') =>
      (await stage.server.send(method, `/${path}`, { editCode, ...body })).body
    const give = (list: string) => organise(`event/${uuid}/gifts`, { list })
    const addWaiting = (...addresses: string[]) =>
      db
        .insertInto('attendance_gift')
        .values(addresses.map((address) => ({ event_id: id, address })))
        .execute()
    const waiting = async () => {
      const rows = await db
        .selectFrom('attendance_gift')
        .select('address')
        .where('event_id', '=', id)
        .execute()
      return rows.map(({ address }) => address).toSorted()
    }
    await answer(made, { approval: 'approved', may_give: true })
    const last = await playerAt(outside, `last`, { x: 10, y: 20 }, stage.clock.nowMs())
    await stage.server.claim(uuid, last)
    const [ann, bo, cleo] = ['a', 'b', 'c'].map(addressOf) as [string, string, string]

    // A list was taken before that claim: one of its addresses has claimed the last token itself
    await addWaiting(ann, bo, last.address.toLowerCase())
    expect(await give(last.address)).toMatchObject({ data: { accepted: 0 } })
    await eventually(waiting, (addresses) => addresses.length === 2, 20_000)

    await organise(`event/${uuid}/blocked`, { add: [ann] })
    expect(await waiting()).toEqual([bo])
    await answer(made, { approval: 'approved', may_give: false })
    expect(await waiting()).toEqual([])

    await addWaiting(cleo)
    await answer(made, { approval: 'approved', may_give: true })
    expect(await waiting(), 'the operator allows it again').toEqual([cleo])
    await organise(`events/${uuid}`, { cancelled: true }, 'PATCH')
    expect(await waiting()).toEqual([])
    expect(await give(cleo)).toMatchObject({ code: 'event_cancelled' })
  })

  test('the call of an approval names what it does not know, and the reason of a refusal reaches the organiser', async () => {
    const made = await make()
    const unknown = await answer(made, { approval: 'approved', reasons: 'a typing mistake' })
    expect([unknown.status, unknown.body.error]).toEqual([
      ...[400, 'There is no field "reasons". The fields are approval, reason, tokens, may_give, content.'],
    ])
    for (const [fields, parameter] of [
      [{ approval: 'refused', tokens: 1 }, 'tokens'],
      [{ approval: 'refused', reason: 'x'.repeat(501) }, 'reason'],
      [{ approval: 'refused', reason: 'a\u202eb' }, 'reason'],
    ] as const)
      expect((await answer(made, fields)).body.data).toMatchObject({ parameter })
    const reason = 'Please say who you are.'
    expect((await answer(made, { approval: 'refused', reason })).body.data).toEqual({
      ...{ approval: 'refused', change: null },
    })
    const { body } = await stage.server.send('POST', `/event/${made.id}/report`, { editCode: made.editCode })
    expect(body.data).toMatchObject({ approval: { state: 'refused', reason, change: null } })
    const open = await stage.server.get(`/event/${made.uuid}`)
    expect(open.text, 'the reason is for the organiser').not.toContain(reason)

    // Corrected, it waits again, and one answer approves the event with its change
    const options = [['description', 'By the harbour museum.']]
    await stage.server.send('PATCH', `/event/${made.id}`, { editCode: made.editCode, options })
    expect((await answer(made, { approval: 'approved' })).body.data).toEqual({
      ...{ approval: 'approved', change: 'approved' },
    })
    const corrected = await stage.server.get(`/event/${made.uuid}`)
    expect(corrected.body.data).toMatchObject({ description: 'By the harbour museum.' })
  })

  test('a few network addresses cannot fill the list of events that wait, and a full one refuses', async () => {
    const bounded = await stage.startAnother({ LIMIT_WAITING_EVENTS_PER_DAY: '2' }, { maxWaitingEvents: 3 })
    await answerAll()
    const attempt = (headers: Record<string, string> = {}) => bounded.send('POST', '/events', EVENT, headers)
    const oldest = await make(bounded)
    const second = await make(bounded)
    const third = await attempt()
    expect([third.status, third.body.error]).toMatchObject([429, expect.stringContaining('2 a day are')])
    expect(third.body.data).toMatchObject({ limit: 'waiting_events' })
    const ofOperator = await attempt({ 'operator-key': OPERATOR_KEY })
    expect(ofOperator.body.data, 'the operator approves by making it').toMatchObject({ approval: 'approved' })
    await bounded.close()

    const full = await stage.startAnother({}, { maxWaitingEvents: 3 })
    const last = await make(full)
    const refused = await full.send('POST', '/events', EVENT)
    expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests'])
    // An event whose answer is not noted keeps its place for a minute only
    await untilAnswered(
      stage.engine.db,
      [oldest, second, last].map(({ id }) => id),
    )
    // Nobody's new event deletes another one, however long that has waited
    stage.clock.set(REFERENCE_TIME_MS + 29 * 24 * HOUR_MS)
    const late = await full.send('POST', '/events', { ...EVENT, start_date: '2027-04-05' })
    stage.clock.set(REFERENCE_TIME_MS)
    expect([late.status, late.body.code]).toEqual([429, 'too_many_requests'])
    expect(await waitingIds()).toEqual([oldest.id, second.id, last.id])
    await full.close()
  })

  test('a burst of requests does not make more events wait than may', async () => {
    await answerAll()
    const full = await stage.startAnother({ LIMIT_WAITING_EVENTS_PER_DAY: '0' }, { maxWaitingEvents: 3 })
    const answers = await Promise.all(Array.from({ length: 12 }, () => full.send('POST', '/events', EVENT)))
    await full.close()
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    expect(await waitingIds()).toHaveLength(3)
  })

  test('an event whose maker got no answer holds no place and ends, unless its code or its tokens are used', async () => {
    await answerAll()
    const { db } = stage.engine
    const full = await stage.startAnother({}, { maxWaitingEvents: 1 })
    const lost = await make(full)
    expect((await full.send('POST', '/events', EVENT)).body.code).toBe('too_many_requests')
    const [unused, known, claimed] = [await make(), await make(), await make()]
    for (const made of [unused, known, claimed]) expect((await approve(made)).status).toBe(200)
    // As servers leave them that are killed before the answer is sent
    const ids = [lost, unused, known, claimed].map(({ id }) => id)
    await untilAnswered(db, ids)
    await db.updateTable('made_event').set({ is_answered: false }).where('event_id', 'in', ids).execute()

    expect(await waitingIds(), 'its answer may be on its way').toEqual([lost.id])
    stage.clock.set(REFERENCE_TIME_MS + MINUTE_MS)
    const next = await make(full)
    await untilAnswered(db, [next.id])
    expect(await waitingIds()).toEqual([next.id])
    await full.close()
    const check = { editCode: known.editCode }
    expect((await stage.server.send('POST', `/event/${known.id}/check`, check)).status).toBe(200)
    const ann = await playerAt(outside, `of an unanswered event`, { x: 10, y: 20 }, stage.clock.nowMs())
    expect((await stage.server.claim(claimed.uuid, ann)).status).toBe(200)
    const approvals = approvalsOf(stage)
    const statuses = () =>
      Promise.all(
        [lost, unused, known, claimed, next].map(
          async ({ uuid }) => (await stage.server.get(`/event/${uuid}`)).status,
        ),
      )
    stage.clock.set(REFERENCE_TIME_MS + 24 * HOUR_MS)
    await approvals.deleteOld()
    expect(await statuses()).toEqual([200, 200, 200, 200, 200])
    stage.clock.set(REFERENCE_TIME_MS + 24 * HOUR_MS + 1)
    await approvals.deleteOld()
    stage.clock.set(REFERENCE_TIME_MS)

    expect(await statuses()).toEqual([404, 404, 200, 200, 200])
    expect(await countPlaces(db, unused.id)).toBeUndefined()
  })

  test('the IPv6 networks of one organisation count as one for events that wait', async () => {
    await answerAll()
    const proxied = await stage.startAnother({
      LIMIT_WAITING_EVENTS_PER_DAY: '2',
      TRUSTED_PROXIES: '127.0.0.1',
    })
    const statusFrom = async (address: string) =>
      (await proxied.send('POST', '/events', EVENT, { 'x-forwarded-for': address })).status
    expect(await statusFrom('2001:db8:7:1::1')).toBe(200)
    expect(await statusFrom('2001:db8:7:2::1')).toBe(200)
    expect(await statusFrom('2001:db8:7:ffff::1')).toBe(429)
    expect(await statusFrom('2001:db8:8:1::1')).toBe(200)
    expect([await statusFrom('203.0.113.1'), await statusFrom('203.0.113.2')]).toEqual([200, 200])
    await proxied.close()
  })

  test('the operator reads the events that wait page by page', async () => {
    await answerAll()
    const made = [await make(), await make(), await make()]
    const first = await list('?limit=2')
    expect(first.body.data).toMatchObject({
      ...{ total: 3, next: made[1]!.id },
      events: made.slice(0, 2).map(({ uuid }) => ({ event: { uuid, name: EVENT.name }, tokens: 1 })),
    })
    await approve(made[0]!) // the next page begins where it would have begun
    const next = await list(`?limit=2&after=${made[1]!.id}`)
    expect(next.body.data).toMatchObject({
      total: 2,
      next: null,
      events: [{ event: { uuid: made[2]!.uuid } }],
    })
    expect(next.headers.get('cache-control')).toBe('no-store')

    for (const headers of [{}, { 'operator-key': 'another' }]) {
      const { status, body } = await stage.server.get('/events/waiting', headers)
      expect([status, body.code]).toEqual([401, 'operator_only'])
    }
    expect((await list('?limit=101')).body.data).toMatchObject({ parameter: 'limit' })
    const approvals = approvalsOf(stage)
    const { total, next: after } = await approvals.waiting({ after: 0, limit: 1 })
    expect([total, after]).toEqual([2, made[1]!.id])
    expect((await approvals.waiting({ after: after!, limit: 1 })).next).toBeUndefined()
  })

  function list(query = '') {
    return stage.server.get(`/events/waiting${query}`, { 'operator-key': OPERATOR_KEY })
  }

  async function listed() {
    return ((await list()).body.data as unknown as { events: readonly { content: number }[] }).events
  }

  async function waitingIds(): Promise<readonly number[]> {
    const { events } = (await list()).body.data as unknown as { events: { event: Made }[] }
    return events.map(({ event }) => event.id)
  }

  /** Leaves no event of the tests before in the list. */
  async function answerAll(): Promise<void> {
    for (const id of await waitingIds())
      await stage.server.send(
        'POST',
        `/events/${id}/approval`,
        { approval: 'refused' },
        { 'operator-key': OPERATOR_KEY },
      )
  }
})
