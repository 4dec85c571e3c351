import { readFileSync } from 'node:fs'
import { HOUR_MS } from '@landpass/server/clock'
import { playerAt } from '@landpass/server/test/support/attendance/attendance-server'
import { attendanceStage } from '@landpass/server/test/support/attendance/attendance-stage'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { findSecrets, type Output } from '@landpass/server/test/support/http/find-secrets'
import { REFERENCE_TIME_MS } from '@landpass/server/test/support/http/land-server'
import { lookAgain, type OpenedPage, SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import {
  expectGoodControls,
  expectRefusals,
  handsAt,
} from '@landpass/server/test/support/pages/controls-page'
import type { Page, Request } from 'playwright-core'
import { describe, expect, test } from 'vitest'

/** The parts of the organiser's controls, for an event of POAP: block list, files, codes, grants, and what it does with secrets. */

const EDIT_CODE = 'orchard-feast-2791'
const HERE = { x: 5, y: -2 }
const open = testBrowser()
const stage = attendanceStage(freshEngine('postgres'))
let lastId = 75_000

describe('players and files', () => {
  test('a blocked player gets no token until the block is taken back; the report counts them', async () => {
    const { opened, uuid } = await givenControls({ codes: 5 })
    const { page } = opened
    const { say, press, expectText } = handsAt(page)
    const zoe = await playerAt(stage.outside, 'controls zoe', HERE, stage.clock.nowMs())

    await page.getByText(say('controls.blocked.count', { count: 0 })).click()
    await page.locator('#blocked-address').fill('0x12')
    await press('controls.blocked.add')
    await expectText('controls.blocked.wrong')
    await page.locator('#blocked-address').fill(` ${zoe.address.replace('0x', '０ｘ ')} `)
    await press('controls.blocked.add')
    await expectText('controls.blocked.added', { address: zoe.address })
    await expectText('controls.blocked.count', { count: 1 })
    expect((await stage.server.claim(uuid, zoe)).body.code).toBe('player_blocked')
    await lookAgain(page)
    await expectText('controls.advice.blocked')
    await expectGoodControls(opened, 'blocked')

    const address = zoe.address.toLowerCase()
    await page.getByRole('button', { name: say('controls.blocked.remove_address', { address }) }).click()
    await expectText('controls.blocked.removed', { address })
    await page.locator('summary:focus', { hasText: say('controls.blocked.count', { count: 0 }) }).waitFor()
    expect((await stage.server.claim(uuid, zoe)).status).toBe(200)
  })

  test('a press does not wait for the list, which it changes; what is typed while it runs stays', async () => {
    const { opened } = await givenControls({ codes: 1 })
    const { page } = opened
    const { say, press, expectText } = handsAt(page)
    const [ann, zoe] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`) as [string, string]
    const field = page.locator('#blocked-address')
    const held: (() => void)[] = []
    await page.route('**/blocked', async (route) => {
      const response = await route.fetch()
      await new Promise<void>((letGo) => held.push(letGo))
      await route.fulfill({ response })
    })
    const answer = async (which: number) => {
      await expect.poll(() => held.length).toBeGreaterThan(which)
      held[which]!()
    }

    await page.getByText(say('controls.blocked.count', { count: 0 })).click()
    await expect.poll(() => held.length).toBe(1)
    await field.fill(ann)
    await press('controls.blocked.add')
    await answer(1)
    await expectText('controls.blocked.added', { address: ann })
    await field.fill(zoe)
    await press('controls.blocked.add')
    await field.fill('0x12')
    await answer(2)
    await expectText('controls.blocked.added', { address: zoe })

    expect(await field.inputValue()).toBe('0x12')
    const late = page.waitForResponse('**/blocked')
    await answer(0)
    await (await late).finished()
    await page.evaluate(`fetch('/health/live')`) // answered later
    expect(await page.locator('.blocked code').allTextContents()).toEqual([ann, zoe])
  })

  test('the list of claims and everything about the event are files, without codes', async () => {
    const { opened, uuid, id } = await givenControls({ codes: 5 })
    const ann = await playerAt(stage.outside, 'controls ann', HERE, stage.clock.nowMs())
    expect((await stage.server.claim(uuid, ann)).status).toBe(200)

    const csv = await downloadOf(opened.page, 'controls.files.claims')
    const everything = await downloadOf(opened.page, 'controls.files.everything')

    expect(csv.name).toMatch(new RegExp(`^landpass-claims-${id}-\\d{4}-\\d\\d-\\d\\d\\.csv$`))
    expect(csv.text).toMatch(/^\ufeffmade_at,address,/)
    expect(csv.text.toLowerCase()).toContain(ann.address.toLowerCase())
    expect(JSON.stringify(JSON.parse(everything.text)).toLowerCase()).toContain(ann.address.toLowerCase())
    const codes = await stage.outside.codesOf(id, EDIT_CODE)
    for (const secret of [EDIT_CODE, ...codes]) {
      expect(csv.text).not.toContain(secret)
      expect(everything.text).not.toContain(secret)
    }
  })

  test('a file that fails says why at its button', async () => {
    const { opened } = await givenControls({ codes: 1 })
    await opened.page.context().setOffline(true)
    await handsAt(opened.page).press('controls.files.claims')
    await opened.page.locator('#csv-fault').getByText('offline').waitFor()
    opened.problems.splice(0)
  })

  test('a file that is being sent to another person is named, and the other file can be had', async () => {
    const { opened } = await givenControls({ codes: 1 })
    const { page } = opened
    const { press, say } = handsAt(page)
    const data = { retry_after_s: 60, file: 'claims' }
    const refusal = { ok: false, error: 'sent', code: 'too_many_requests', data }
    await page.route('**/claims', (route) =>
      route.fulfill({ status: 429, headers: { 'retry-after': '60' }, json: refusal }),
    )

    await press('controls.files.claims')
    const words = say('controls.files.running_claims', { seconds: 60 })
    await page.locator('#csv-fault').getByText(words).waitFor()
    expect(JSON.parse((await downloadOf(page, 'controls.files.everything')).text)).toHaveProperty('claims')
    expectRefusals(opened, 429)
  })
})

test('tokens that the issuer made meanwhile are loaded', async () => {
  const { opened, id } = await givenControls({ codes: 2 })
  const hands = handsAt(opened.page)
  const body = JSON.stringify({ count: 7 })
  const headers = { 'content-type': 'application/json' }
  await fetch(`${stage.outside.issuer}/simulator/events/${id}/codes`, { method: 'POST', headers, body })
  await hands.press('organise.codes.load')
  await hands.expectText('organise.news.codes', { count: 7, total: 9 })
  await opened.page.locator('.numbers dd', { hasText: '9' }).first().waitFor()
})

test('a list that waits for approval: “load when approved” makes the server keep the edit code, until it is told not to', async () => {
  const { opened, id } = await givenControls({ codes: 3, approved_after_ms: null })
  const { page } = opened
  const hands = handsAt(page)
  const kept = () => stage.engine.db.selectFrom('code_load').select(['event_id', 'until_ms']).execute()

  await hands.expectText('controls.tokens.when_approved_explained')
  await hands.press('controls.tokens.when_approved')
  await hands.expectText('controls.next.loads_alone')
  await page.locator('button:focus', { hasText: hands.say('controls.tokens.not_alone') }).waitFor()
  await page.getByText('4 Dec 2026').first().waitFor()
  expect(await kept()).toEqual([{ event_id: id, until_ms: REFERENCE_TIME_MS + 14 * 24 * HOUR_MS }])
  await expectGoodControls(opened, 'loads-alone')
  await hands.press('controls.tokens.not_alone')
  await page.locator('button:focus', { hasText: hands.say('controls.tokens.when_approved') }).waitFor()
  expect(await kept()).toEqual([])

  await hands.press('controls.tokens.when_approved')
  await hands.expectText('controls.next.loads_alone')
  await stage.outside.putEvent(id, { edit_code: EDIT_CODE, codes: 3 })
  await hands.press('organise.codes.load')
  await hands.expectText('organise.news.codes', { count: 3, total: 3 })
  await hands.expectState('open')
  expect(await kept()).toEqual([])
})

test('while the issuer is away the numbers stay, and the page says that claims go on', async () => {
  const { opened } = await givenControls({ codes: 2 })
  await stage.outside.issuerSettings({ error_rate: 1 })
  await lookAgain(opened.page)
  await handsAt(opened.page).expectState('issuer_down')
  await stage.outside.issuerSettings({ error_rate: 0 })
  await handsAt(opened.page).expectState('open')
  expectRefusals(opened, 503)
})

test('after too many requests the page waits as long as the server says, however often one comes back to it', async () => {
  const { uuid } = await givenEvent({ codes: 1 })
  const limited = await stage.startAnother({ LIMIT_ORGANISER_PER_MINUTE: '1' })
  const opened = await open(`${limited.origin}/organise?event=${uuid}`, { size: 'phone' })
  const { page } = opened
  const asked = reportsOf(page)
  await handsAt(page).open(EDIT_CODE)
  await lookAgain(page)
  await page.locator('.controls .notice-warning').waitFor()
  const count = asked.length
  for (let times = 0; times < 5; times++) await lookAgain(page)
  await page.locator('.controls .notice-warning').waitFor()
  expect(asked).toHaveLength(count)
  expectRefusals(opened, 429)
})

test('the edit code is in the memory of the page alone, and gone when it is forgotten or the page is left', async () => {
  const { opened, id } = await givenControls({ codes: 1 }, { keepsPages: true })
  const { page } = opened
  const outputs: Output[] = []
  const listen = async (where: string) =>
    outputs.push({ where, text: await page.evaluate<string>(EVERYTHING_KEPT) })
  page.on('console', (message) => outputs.push({ where: 'the console', text: message.text() }))
  page.on('request', (request) => outputs.push({ where: 'a request', text: headOf(request) }))
  const hands = handsAt(page)

  await listen('the controls')
  expect(await page.locator('#edit-code').count()).toBe(0)
  await hands.press('controls.pause')
  await hands.expectState('paused')
  await listen('after a change')
  await hands.press('controls.code.forget')
  expect(await page.locator('#edit-code').inputValue()).toBe('')
  await listen('forgotten')
  await hands.open(EDIT_CODE)
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`)
  await page.locator('.access-form').waitFor()
  expect(await page.locator('#edit-code').inputValue()).toBe('')
  await hands.open(EDIT_CODE)
  await hands.press('organise.todo.change')
  expect(await page.locator('#edit-code').inputValue()).toBe('')
  await listen('another form')
  await page.goBack()
  await page.locator('.access-form').waitFor()

  expect(await page.locator('.controls').count(), String(id)).toBe(0)
  expect(findSecrets(outputs, new Map([[EDIT_CODE, 'the edit code']]))).toEqual([])
  // The page keeps itself for offline times, and asks for a map, which this server has not
  await expect.poll(() => opened.problems, SOON).not.toEqual([])
  expectRefusals(opened, 503)
})

test('wrong edit codes of strangers: the controls show the work that the server asks for, which can be cancelled', async () => {
  const { opened, id } = await givenControls({ codes: 1 })
  const { page } = opened
  await page.route('**/report', async (route) => {
    const response = await route.fetch()
    const body = (await response.text()).replace(/"bits":\d+/, '"bits":40') // never solved during the test
    await route.fulfill({ response, body })
  })
  for (let guess = 0; guess < 5; guess++) {
    const wrong = { editCode: `guess-${guess}`, options: [['enabled', false]] }
    expect((await stage.server.send('PATCH', `/event/${id}`, wrong)).status).toBe(401)
  }
  await page.evaluate('localStorage.clear()') // the pass with which the server asks for no work
  await lookAgain(page)
  await page.locator('.controls progress').waitFor({ timeout: 20_000 })
  await handsAt(page).press('organise.proof.cancel')
  await page.locator('.controls .notice-warning').waitFor()
  expect(await page.locator('.controls progress').count()).toBe(0)
  expectRefusals(opened, 429)
})

/** Address, history, markup, storages and caches of a page, as text. */
const EVERYTHING_KEPT = `(async () => {
  const cached = []
  for (const name of await caches.keys()) {
    const cache = await caches.open(name)
    for (const request of await cache.keys()) cached.push(request.url, await (await cache.match(request)).text())
  }
  const fields = [...document.querySelectorAll('input, textarea')].map((field) => field.value)
  return [location.href, document.title, JSON.stringify(history.state), document.documentElement.outerHTML, document.cookie,
    JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }),
    JSON.stringify(await indexedDB.databases()), JSON.stringify(performance.getEntries()), ...fields, ...cached].join(' ')
})()`

function headOf(request: Request): string {
  return `${request.url()} ${JSON.stringify(request.headers())}`
}

/** The requests for reports from now on. */
function reportsOf(page: Page): readonly string[] {
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/report')) asked.push(request.url())
  })
  return asked
}

async function downloadOf(
  page: Page,
  key: string,
): Promise<{ readonly name: string; readonly text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), handsAt(page).press(key)])
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), 'utf8') }
}

interface Plan {
  readonly codes: number
  /** Null: the issuer has not approved the event. */
  readonly approved_after_ms?: null
}

async function givenEvent(plan: Plan): Promise<{ id: number; uuid: string }> {
  lastId += 1
  await stage.outside.putEvent(lastId, { edit_code: EDIT_CODE, ...plan })
  return { id: lastId, uuid: await stage.server.register(lastId, EDIT_CODE, '5,-2') }
}

/** An event whose controls are open on a phone. */
async function givenControls(
  plan: Plan,
  options: { readonly keepsPages?: boolean } = {},
): Promise<{ readonly opened: OpenedPage; readonly id: number; readonly uuid: string }> {
  const { id, uuid } = await givenEvent(plan)
  const address = `${stage.server.origin}/organise?event=${uuid}`
  const opened = await open(address, { size: 'phone', clockMs: REFERENCE_TIME_MS, ...options })
  await handsAt(opened.page).open(EDIT_CODE)
  return { opened, id, uuid }
}
