import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type AttendanceServer,
  type OutsideWorld,
  startAttendance,
  startOutsideWorld,
} from '../support/attendance-server.ts'
import { testBrowser } from '../support/browser.ts'
import { freshEngine } from '../support/engines.ts'
import { expectGoodEvening, handsAt, lookAgain, setDeviceClock, wordsOf } from '../support/evening-page.ts'
import { REFERENCE_TIME_MS, testClock } from '../support/land-server.ts'

/**
 * The page of an evening in every state that an event can be in: what it says, and that everybody can read it. The report
 * is a real one, with the fields changed that a state depends on.
 */

const EDIT_CODE = '012345'
const EVENT = 74_001
const openEngine = freshEngine('postgres')
const open = testBrowser()
const say = wordsOf('en')
let outside: OutsideWorld
let server: AttendanceServer

beforeAll(async () => {
  const [world, engine] = await Promise.all([startOutsideWorld(), openEngine()])
  outside = world
  server = await startAttendance(engine, testClock(), outside)
  await outside.putEvent(EVENT, { edit_code: EDIT_CODE, codes: 40, name: 'Harbour Lights Opening' })
  await server.register(EVENT, EDIT_CODE, '5,-2')
})
afterAll(() => server.close())

const FAILING = { status: 'failing', since: iso(-4) }
const BUSY_MINUTES = Array.from({ length: 50 }, (_, at) => ({
  minute: iso(at - 49),
  claims: Math.round(4 + 3 * Math.sin(at / 5)),
}))

describe('every state says what it is and what to do next, in both themes', () => {
  test.each<[string, object, string]>([
    ['open', { minutes: BUSY_MINUTES.slice(0, -10) }, say('evening.next.open')],
    ['before', closed('event_not_open', { opens_at: iso(30) }), say('evening.next.before')],
    ['paused', { ...closed('event_disabled'), event: { enabled: false } }, say('evening.next.paused')],
    [
      'waiting',
      closed('waiting_for_issuer', { total: 0, available: 0 }),
      say('evening.next.waiting_for_issuer'),
    ],
    ['short', { availability: { available: 3, total: 40 } }, say('evening.next.more_at_issuer')],
    ['given_out', closed('no_codes_left', { available: 0, claimed: 40 }), say('evening.next.more_at_issuer')],
    ['held', { ...closed('event_held'), alarms: [ALARM] }, say('organise.next.event_held')],
    ['issuer_down', { issuer: FAILING }, say('evening.next.issuer_down')],
    ['presence_down', { presence: FAILING }, say('evening.next.presence_down')],
    ['ended', closed('event_closed', { closes_at: iso(-10) }), say('evening.next.event_closed')],
  ])('%s', async (state, made, next) => {
    const opened = await open(`${server.origin}/organise?event=${EVENT}`, { size: 'phone' })
    const hands = handsAt(opened.page)
    await setDeviceClock(opened.page)
    await makeReports(opened.page, () => ({ minutes: BUSY_MINUTES, ...made }))
    await hands.open(EDIT_CODE)

    await hands.expectState(state)
    await opened.page.locator('.evening-state').getByText(next).waitFor()
    expect(await opened.page.evaluate('document.activeElement.textContent')).toBe(say('evening.heading'))
    await expectGoodEvening(opened, state)
  })
})

test('on a desktop, with refusals, a rehearsal, grants and a list that waits for the issuer’s approval', async () => {
  const opened = await open(`${server.origin}/organise?event=${EVENT}`, { size: 'desktop' })
  await setDeviceClock(opened.page)
  await makeReports(opened.page, () => ({
    event: { rehearsal_until: iso(90), requires_grant: true },
    ...closed('waiting_for_issuer', { total: 0, available: 0 }),
    minutes: BUSY_MINUTES,
    refusals: [
      { code: 'already_claimed', count: 112 },
      { code: 'not_at_event', count: 31 },
      { code: 'signature_expired', count: 2 },
    ],
    rehearsal: { claims: 12, refusals: 3 },
    grants: { open: 4, used: 19, expired: 1 },
    blocked: 2,
    codes_load: { until: iso(14 * 24 * 60), last_try_at: iso(-2) },
  }))
  const hands = handsAt(opened.page)
  await hands.open(EDIT_CODE)

  await hands.expectText('evening.next.loads_alone')
  await hands.expectText('error.not_at_event')
  await hands.expectText('evening.advice.place')
  await hands.expectText('evening.rehearsal.counted', { claims: 12, refusals: 3 })
  await opened.page.getByText(say('evening.chart.table')).click()
  await expectGoodEvening(opened, 'all')
})

test('a rehearsal is switched on for an hour and ended; a secret for grants is shown once', async () => {
  const opened = await open(`${server.origin}/organise?event=${EVENT}`, { size: 'phone' })
  const { page } = opened
  await setDeviceClock(page)
  let until: string | null = null
  await makeReports(page, () => ({
    event: { rehearsal_until: until },
    rehearsal: { claims: 0, refusals: 0 },
  }))
  await page.route(`**/event/${EVENT}`, async (route) => {
    if (route.request().method() !== 'PATCH') return route.fallback()
    const { options } = route.request().postDataJSON() as { options: [string, string | null][] }
    until = Object.fromEntries(options).rehearsal_until ?? null
    return route.fulfill({ json: { ok: true, data: { id: EVENT, enabled: true, rehearsal_until: until } } })
  })
  const hands = handsAt(page)
  await hands.open(EDIT_CODE)

  await hands.press('evening.rehearsal.hour')
  await page.getByRole('button', { name: say('evening.rehearsal.end') }).waitFor()
  expect(until).toBe(iso(60))
  await hands.press('evening.rehearsal.end')
  await page.getByRole('button', { name: say('evening.rehearsal.hour') }).waitFor()
  expect(until).toBeNull()

  await page.getByLabel(say('evening.grants.keep_previous')).check()
  await hands.press('evening.grants.make')
  const secret = (await page.locator('.notice code').textContent())!
  expect(secret.length).toBeGreaterThan(30)
  await expectGoodEvening(opened, 'secret')
  await hands.press('evening.grants.kept')
  await page.getByText(secret).waitFor({ state: 'detached' })
  expect(await page.evaluate<string>('document.documentElement.outerHTML')).not.toContain(secret)
})

test('a report that fails leaves the numbers with their time; one that comes takes the warning away', async () => {
  const opened = await open(`${server.origin}/organise?event=${EVENT}`, { size: 'phone' })
  const { page } = opened
  const hands = handsAt(page)
  await hands.open(EDIT_CODE)
  await page.context().setOffline(true)
  await lookAgain(page)
  await page.locator('.evening .notice-warning').waitFor()
  await page.locator('.numbers dd', { hasText: '40' }).first().waitFor()

  await page.context().setOffline(false)
  await page.locator('.evening .notice-warning').waitFor({ state: 'detached' })
  opened.problems.splice(0)
})

const ALARM = {
  kind: 'unknown_codes',
  answers: 5,
  held_since: iso(-3),
  next_try_at: iso(2),
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
