import type { EventInfo } from '@landpass/client'
import { HOUR_MS } from '@landpass/server/clock'
import { playerAt } from '@landpass/server/test/support/attendance/attendance-server'
import { attendanceStage } from '@landpass/server/test/support/attendance/attendance-stage'
import { prepareToGive } from '@landpass/server/test/support/attendance/game-backend'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS } from '@landpass/server/test/support/http/land-server'
import { lookAgain, testBrowser } from '@landpass/server/test/support/pages/browser'
import {
  expectGoodControls,
  expectRefusals,
  handsAt,
  wordsOf,
} from '@landpass/server/test/support/pages/controls-page'
import { PREVIEW_REALM, type SimulatedPlayer } from '@landpass/simulators/player/player'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'

/**
 * The organiser's controls in every state that an event can be in: what it says, and that everybody can read it. The report
 * is a real one, with the fields changed that a state depends on.
 */

const EDIT_CODE = '012345'
const EVENT = 74_001
const BUSY = 74_002
const LEAKED = 74_003
const HERE = { x: 5, y: -2 }
const FAR = { x: 9, y: 9 }
const open = testBrowser()
const say = wordsOf('en')
const stage = attendanceStage(freshEngine('postgres'))

beforeAll(async () => {
  await stage.outside.putEvent(EVENT, { edit_code: EDIT_CODE, codes: 40, name: 'Harbour Lights Opening' })
  await stage.server.register(EVENT, EDIT_CODE, '5,-2')
})

const FAILING = { status: 'failing', since: iso(-4) }
const BUSY_MINUTES = Array.from({ length: 50 }, (_, at) => ({
  minute: iso(at - 49),
  claims: Math.round(4 + 3 * Math.sin(at / 5)),
}))

test('every state says what it is and what to do next, in both themes', async () => {
  let made: object = {}
  const address = `${stage.server.origin}/organise?event=${EVENT}`
  const opened = await open(address, { size: 'phone', clockMs: REFERENCE_TIME_MS })
  const hands = handsAt(opened.page)
  await makeReports(opened.page, () => ({ minutes: BUSY_MINUTES, ...made }))
  await hands.open(EDIT_CODE)
  expect(await opened.page.evaluate('document.activeElement.textContent')).toBe(say('controls.heading'))

  for (const [state, report, next] of [
    ['before', closed('event_not_open', { opens_at: iso(30) }), say('controls.next.before')],
    ['paused', { ...closed('event_disabled'), event: { enabled: false } }, say('controls.next.paused')],
    [
      'waiting',
      closed('waiting_for_issuer', { total: 0, available: 0 }),
      say('controls.next.waiting_for_issuer'),
    ],
    ['short', { availability: { available: 3, total: 40 } }, say('controls.next.more_at_issuer')],
    [
      'given_out',
      closed('no_codes_left', { available: 0, claimed: 40 }),
      say('controls.next.more_at_issuer'),
    ],
    ['held', { ...closed('event_held'), alarms: [ALARM] }, say('organise.next.event_held')],
    ['issuer_down', { issuer: FAILING }, say('controls.next.issuer_down')],
    ['presence_down', { presence: FAILING }, say('controls.next.presence_down')],
    ['ended', closed('event_closed', { closes_at: iso(-10) }), say('controls.next.event_closed')],
    ['open', { minutes: BUSY_MINUTES.slice(0, -10) }, say('controls.next.open')],
  ] as const) {
    made = report
    await lookAgain(opened.page)
    await hands.expectState(state)
    await opened.page.locator('.controls-state').getByText(next).waitFor()
    await expectGoodControls(opened, state)
  }
})

test('on a desktop, with refusals, a rehearsal, grants and a list that waits for the issuer’s approval', async () => {
  await stage.outside.putEvent(BUSY, { edit_code: EDIT_CODE, codes: 40, approved_after_ms: null })
  const event = await stage.server.register(BUSY, EDIT_CODE, '5,-2')
  const organiser = { editCode: EDIT_CODE }
  const options = [
    ['requires_grant', true],
    ['rehearsal_until', iso(90)],
  ]
  await stage.server.send('PATCH', `/event/${event}`, { ...organiser, options })
  await stage.server.send('POST', `/addcodes/${BUSY}`, { ...organiser, load_when_approved: true })
  const give = await prepareToGive({ server: stage.server, event, editCode: EDIT_CODE, clock: stage.clock })
  const [ann, ben, cleo] = [
    await player('busy ann'),
    await player('busy ben'),
    await player('busy cleo', FAR),
  ]
  await give(ann.address)
  await rehearse(event, ann)
  await rehearse(event, ann, { rehearse: 'not_at_event' })
  await rehearse(event, ben)
  for (const who of [ben, ben, cleo]) await stage.server.claim(event, who)
  await stage.server.send('POST', `/event/${event}/blocked`, { ...organiser, add: [cleo.address] })

  const address = `${stage.server.origin}/organise?event=${event}`
  const opened = await open(address, { size: 'desktop', clockMs: REFERENCE_TIME_MS })
  await makeReports(opened.page, () => ({ minutes: BUSY_MINUTES }))
  const hands = handsAt(opened.page)
  await hands.open(EDIT_CODE)

  await hands.expectState('waiting')
  await hands.expectText('controls.next.loads_alone')
  await hands.expectText('error.not_at_event')
  await hands.expectText('controls.advice.place')
  await hands.expectText('error.grant_required')
  await hands.expectText('controls.rehearsal.counted', { claims: 1, refusals: 2 })
  await opened.page.getByText(say('controls.grants.fold', { count: 1 })).click()
  await opened.page
    .locator('dt', { hasText: say('controls.grants.open') })
    .locator('+ dd', { hasText: '1' })
    .waitFor()
  await hands.expectText('controls.blocked.count', { count: 1 })
  await opened.page.getByText(say('controls.chart.table')).click()
  await expectGoodControls(opened, 'all')
  expect(await opened.page.locator('.live-columns').count(), 'one pair of columns').toBe(1)
})

test('a rehearsal is switched on for an hour of the server’s clock, counts what the scene’s builder tries, and is ended', async () => {
  const address = `${stage.server.origin}/organise?event=${EVENT}`
  const opened = await open(address, { size: 'phone', clockMs: REFERENCE_TIME_MS - 48 * HOUR_MS })
  const { page } = opened
  const hands = handsAt(page)
  const until = async () => (await stage.server.data<EventInfo>(`/event/${EVENT}`)).rehearsal_until
  await hands.open(EDIT_CODE)

  const refusal = { ok: false, error: 'clock', code: 'invalid_parameter', data: {} }
  await page.route('**/event/*', (route) =>
    route.request().method() === 'PATCH' ? route.fulfill({ status: 400, json: refusal }) : route.fallback(),
  )
  await hands.press('controls.rehearsal.hour')
  await hands.expectText('controls.rehearsal.clock')
  expectRefusals(opened, 400)
  await page.unroute('**/event/*')
  await hands.press('controls.rehearsal.hour')
  await page.getByRole('button', { name: say('controls.rehearsal.end') }).waitFor()
  expect(await until()).toBe(iso(60))
  const dora = await player('rehearsing dora', FAR)
  expect(await rehearse(EVENT, dora)).toBe(200)
  expect(await rehearse(EVENT, dora, { rehearse: 'not_at_event' })).toBe(403)
  await lookAgain(page)
  await hands.expectText('controls.rehearsal.counted', { claims: 1, refusals: 1 })
  await expectGoodControls(opened, 'rehearsal')
  await hands.press('controls.rehearsal.end')
  await page.getByRole('button', { name: say('controls.rehearsal.hour') }).waitFor()
  expect(await until()).toBeNull()
  expect(await rehearse(EVENT, dora)).toBe(403)
  expect(await page.locator('.numbers dd').allTextContents()).toEqual(['40', '0', '40'])
})

test('a secret for grants is shown once', async () => {
  const opened = await open(`${stage.server.origin}/organise?event=${EVENT}`, { size: 'phone' })
  const { page } = opened
  const hands = handsAt(page)
  await hands.open(EDIT_CODE)

  await page.getByText(say('controls.grants.fold', { count: 0 })).click()
  expect(await page.getByLabel(say('controls.grants.keep_previous')).isChecked()).toBe(true)
  await hands.expectText('controls.grants.ends_at_once')
  await hands.press('controls.grants.make')
  const secret = (await page.locator('.notice code').textContent())!
  expect(secret.length).toBeGreaterThan(30)
  await expectGoodControls(opened, 'secret')
  await hands.press('controls.grants.kept')
  await page.getByText(secret).waitFor({ state: 'detached' })
  await page.locator('button:focus', { hasText: say('controls.grants.make') }).waitFor()
  expect(await page.evaluate<string>('document.documentElement.outerHTML')).not.toContain(secret)
})

test('a secret that others know ends at once, and the grants that are not used are withdrawn', async () => {
  await stage.outside.putEvent(LEAKED, { edit_code: EDIT_CODE, codes: 1, name: 'Harbour Lights, leaked' })
  const event = await stage.server.register(LEAKED, EDIT_CODE, '5,-2')
  const give = await prepareToGive({ server: stage.server, event, editCode: EDIT_CODE, clock: stage.clock })
  await give((await player('withdrawn fay')).address)
  const { page } = await open(`${stage.server.origin}/organise?event=${event}`, { size: 'phone' })
  const hands = handsAt(page)
  await hands.open(EDIT_CODE)

  await page.getByText(say('controls.grants.fold', { count: 1 })).click()
  await page.getByLabel(say('controls.grants.known')).check()
  expect(await page.getByLabel(say('controls.grants.keep_previous')).isChecked()).toBe(false)
  await hands.press('controls.grants.make')
  await hands.expectText('controls.grants.withdrawn', { count: 1 })
  await page
    .locator('dt', { hasText: say('controls.grants.open') })
    .locator('+ dd', { hasText: '0' })
    .waitFor()
})

test('a report that fails leaves the numbers with their time; one that comes takes the warning away', async () => {
  const opened = await open(`${stage.server.origin}/organise?event=${EVENT}`, { size: 'phone' })
  const { page } = opened
  const hands = handsAt(page)
  await hands.open(EDIT_CODE)
  await page.context().setOffline(true)
  await lookAgain(page)
  await page.locator('.controls .notice-warning').waitFor()
  await page.locator('.numbers dd', { hasText: '40' }).first().waitFor()

  await page.context().setOffline(false)
  await page.locator('.controls .notice-warning').waitFor({ state: 'detached' })
  opened.problems.splice(0)
})

const ALARM = {
  kind: 'unknown_codes',
  answers: 5,
  held_since: iso(-3),
  next_try_at: iso(2),
}

function player(name: string, place = HERE): Promise<SimulatedPlayer> {
  return playerAt(stage.outside, name, place, stage.clock.nowMs())
}

/** A claim from a preview of the scene. @returns the status of the answer */
async function rehearse(event: number | string, who: SimulatedPlayer, body: object = {}): Promise<number> {
  const sign = { metadata: { realm: PREVIEW_REALM } }
  return (await stage.server.claim(String(event), who, { body, sign })).status
}

/** What a report says of an event that gives no tokens. */
function closed(reason: string, more: object = {}) {
  return { availability: { open: false, reason, ...more } }
}

/** Some minutes from the test's time. */
function iso(minutes: number): string {
  return new Date(REFERENCE_TIME_MS + minutes * 60_000).toISOString()
}

/** Changes fields of the real reports. */
async function makeReports(page: Page, made: () => Readonly<Record<string, unknown>>): Promise<void> {
  await page.route('**/event/*/report', async (route) => {
    const response = await route.fetch()
    const body = (await response.json()) as { data: Record<string, object> }
    const { event, availability, ...more } = made() as Record<string, object>
    const { data } = body
    body.data = {
      ...data,
      ...more,
      event: { ...data.event, ...event },
      availability: { ...data.availability, ...availability },
    }
    await route.fulfill({ response, json: body })
  })
}
