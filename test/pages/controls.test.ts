import type { EventInfo } from '@landpass/client'
import { playerAt } from '@landpass/server/test/support/attendance/attendance-server'
import { attendanceStage, makesEvents } from '@landpass/server/test/support/attendance/attendance-stage'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS } from '@landpass/server/test/support/http/land-server'
import { lookAgain, SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import {
  expectGoodControls,
  expectRefusals,
  type Hands,
  handsAt,
  wordsOf,
} from '@landpass/server/test/support/pages/controls-page'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import type { SimulatedPlayer } from '@landpass/simulators/player/player'
import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'

/**
 * The controls of a live event: an organiser with a phone, while simulated players claim at a real server. Nothing of it needs
 * a terminal.
 */

const HERE = { x: 5, y: -2 }
const ELSEWHERE = { x: 9, y: 9 }
const open = testBrowser()
const stage = attendanceStage(freshEngine('postgres'), { env: makesEvents() })

interface MadeEvent {
  readonly uuid: string
  readonly editCode: string
}

describe('in French, on a phone', () => {
  const [locale, language] = ['fr-FR', 'fr'] as const
  test('the organiser pauses and resumes, changes rules, times and tokens, while players claim', async () => {
    const { uuid, editCode } = await givenEvent('Harbour Lights', 12)
    const address = `${stage.server.origin}/organise?event=${uuid}`
    const opened = await open(address, { size: 'phone', locale, clockMs: REFERENCE_TIME_MS })
    const { page } = opened
    const hands = handsAt(page, wordsOf(language))
    const { say, press, expectState, expectText } = hands
    const claim = async (who: string, place = HERE) =>
      stage.server.claim(uuid, await playerNamed(`French ${who}`, place))

    await press('controls.access.open')
    await page.locator('#edit-code-fault', { hasText: say('organise.change.code_missing') }).waitFor()
    await page.locator('#edit-code').fill('0'.repeat(32))
    await press('controls.access.open')
    await page.locator('#edit-code-fault', { hasText: say('organise.change.wrong_code') }).waitFor()
    expectRefusals(opened, 401)
    await hands.open(editCode)
    await expectState('open')

    expect((await claim('ann')).status).toBe(200)
    expect((await claim('ann')).status).toBe(409)
    expect((await claim('ben', ELSEWHERE)).status).toBe(403)
    await untilGivenOut(page, '1')
    await expectText('controls.chart.label', { count: 60, claims: 1 })
    await expectText('error.not_at_event')
    await expectText('controls.advice.place')
    await expectGoodControls(opened, 'journey-fr')

    await press('controls.pause')
    await expectState('paused')
    expect((await claim('cleo')).body.code).toBe('event_disabled')
    await press('controls.resume')
    await expectState('open')
    expect((await claim('cleo')).status).toBe(200)

    await switchTo(page, 'presence', false)
    expect((await claim('dan', ELSEWHERE)).status).toBe(200)
    await switchTo(page, 'captcha', true)
    expect((await claim('eve')).body.code).toBe('captcha_required')
    await switchTo(page, 'captcha', false)
    await switchTo(page, 'grant', true)
    expect((await claim('eve')).body.code).toBe('grant_required')
    await switchTo(page, 'grant', false)

    await page.locator('#opens-at').fill(localTime(60))
    await press('controls.times.save')
    await expectState('before')
    expect((await claim('eve')).body.code).toBe('event_not_open')
    await page.locator('#closes-at').fill(localTime(30))
    await press('controls.times.save')
    await expectText('controls.times.wrong')
    await page.locator('#closes-at').fill(localTime(30))
    await page.locator('#opens-at').fill(localTime(60).replace('2026', '2025'))
    await press('controls.times.save')
    await page.locator('#times-early', { hasText: '2026' }).waitFor()
    await expectGoodControls(opened, 'early-fr')
    expect((await claim('eve')).body.code, 'nothing is saved yet').toBe('event_not_open')
    await press('controls.times.save_early')
    await expectState('open')
    await page.locator('#opens-at').fill('')
    await press('controls.times.save')
    await expectState('open')
    await expect
      .poll(() => optionsOf(uuid), SOON)
      .toMatchObject({
        distribution_start_date: null,
        distribution_end_date: iso(30),
      })

    for (const who of ['eve', 'finn', 'gil', 'hal', 'ida', 'jon', 'kim', 'lea']) await claim(who)
    await lookAgain(page)
    await expectState('short')
    expect(await page.locator('.controls-state [role=status]').first().textContent()).toBe(
      say('controls.state.short'),
    )
    await expectText('controls.next.more_here')
    await claim('mia')
    await lookAgain(page)
    await expectState('given_out')
    for (const wrong of ['12', '999999999']) {
      await page.locator('#more-tokens').fill(wrong)
      await press('controls.tokens.raise')
      await expectText('organise.make.tokens_range', {
        from: 13,
        to: new Intl.NumberFormat(locale).format(1_000_000),
      })
    }
    await page.locator('#more-tokens').fill(' ５０ ')
    expect(await page.locator('#more-tokens-fault').textContent()).toBe('')
    await press('controls.tokens.raise')
    await expectState('open')
    expect(await numbersOf(page)).toEqual(['38', '12', '50'])

    const guest = await playerNamed('French guest', HERE)
    const claimAsGuest = () => stage.server.claim(uuid, guest, { sign: { metadata: { isGuest: true } } })
    expect((await claimAsGuest()).body.code).toBe('guest_refused')
    await switchTo(page, 'guests', true)
    expect((await claimAsGuest()).status).toBe(200)
    const [nia, oto] = ['a', 'b'].map((digit) => `0x${digit.repeat(40)}`)
    await page.locator('#gift-list').fill(`${nia}\nbob`)
    await press('controls.gifts.give')
    await expectText('controls.gifts.line.no_address', { line: 2 })
    expectRefusals(opened, 400)
    const buffer = Buffer.from(`name,address\r\nNia,${nia}\r\nOto,${oto}\r\nGus,${guest.address}\r\n`)
    await page.locator('#gift-file').setInputFiles({ name: 'list.csv', mimeType: 'text/csv', buffer })
    await eventually(
      () => page.locator('#gift-list').inputValue(),
      (list) => list.includes('Oto'),
      20_000,
    )
    await press('controls.gifts.give')
    await expectText('controls.gifts.taken', { accepted: 2, had: 1 })
    await eventually(
      () => stage.server.get(`/events/${uuid}/holders/${oto}`),
      ({ body }) => (body as { attended?: boolean }).attended === true,
      20_000,
    )
    await lookAgain(page)
    await page.locator('[data-part="gifts"] dd', { hasText: '2' }).waitFor()
    await expectGoodControls(opened, 'gifts-fr')

    await page.locator('#closes-at').fill(localTime(-1))
    await press('controls.times.save')
    await expectState('ended')
    await expectText('controls.next.event_closed')
    await press('controls.code.forget')
    await page.locator('.access-form h2:focus').waitFor()
    expect(await page.locator('.controls').count()).toBe(0)
    expect(await page.locator('#edit-code').inputValue()).toBe('')
  })
})

describe('a change', () => {
  test('that fails says why at its switch, and the switch shows what is true', async () => {
    const { uuid, editCode } = await givenEvent('Failing change', 5)
    const opened = await open(`${stage.server.origin}/organise?event=${uuid}`, { size: 'phone' })
    const { page } = opened
    const hands = handsAt(page)
    await hands.open(editCode)
    const refusal = { ok: false, error: 'away', code: 'database_unavailable', data: {} }
    await page.route('**/event/*', (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 503, json: refusal }) : route.fallback(),
    )

    await switchOf(page, 'captcha').click()
    await page
      .locator('#switch-captcha-fault', { hasText: hands.say('error.database_unavailable') })
      .waitFor()
    expect(await switchOf(page, 'captcha').getAttribute('aria-checked')).toBe('false')
    await hands.press('controls.pause')
    await page.locator('#pause-fault', { hasText: hands.say('error.database_unavailable') }).waitFor()
    await hands.expectState('open')
    await expectGoodControls(opened, 'change-failed')

    await page.unroute('**/event/*')
    await switchTo(page, 'captcha', true)
    expect(await page.locator('#switch-captcha-fault').textContent()).toBe('')
    expectRefusals(opened, 503)
  })

  test('is sent once, however often it is pressed while it runs', async () => {
    const { uuid, editCode } = await givenEvent('Double press', 5)
    const opened = await open(`${stage.server.origin}/organise?event=${uuid}`, { size: 'phone' })
    const { page } = opened
    const hands = handsAt(page)
    await hands.open(editCode)
    const sent: string[] = []
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/event/*', async (route) => {
      if (route.request().method() !== 'PATCH') return route.fallback()
      sent.push(route.request().url())
      await held
      return route.continue()
    })

    await hands.press('controls.pause')
    const pressed = page.locator('.controls-state button[aria-disabled=true]')
    await pressed.click({ force: true })
    await pressed.click({ force: true })
    letGo()
    await hands.expectState('paused')
    expect(sent).toHaveLength(1)
  })

  test('is shown as its answer says, without another report', async () => {
    const { uuid, editCode } = await givenEvent('Answer of a change', 5)
    const { page } = await open(`${stage.server.origin}/organise?event=${uuid}`, { size: 'phone' })
    const hands = handsAt(page)
    await hands.open(editCode)
    let letGo = () => {}
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await page.route('**/report', async (route) => {
      await held
      return route.continue()
    })
    await hands.press('controls.pause')
    await hands.expectState('paused')
    await hands.press('controls.resume')
    await hands.expectState('open')
    letGo()
  })

  test('after too many requests says so until the pause is over, and asks for nothing meanwhile', async () => {
    const { uuid, editCode } = await givenEvent('Too many presses', 5)
    const opened = await open(`${stage.server.origin}/organise?event=${uuid}`, { size: 'phone' })
    const { page } = opened
    const hands = handsAt(page)
    await hands.open(editCode)
    await page.clock.install({ time: REFERENCE_TIME_MS })
    const refusal = { ok: false, error: 'wait', code: 'too_many_requests', data: {} }
    await page.route('**/event/*', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 429, headers: { 'retry-after': '60' }, json: refusal })
        : route.fallback(),
    )
    await hands.press('controls.pause')
    const words = page.locator('#pause-fault')
    await words.getByText(hands.say('common.too_many_requests', { seconds: 60 })).waitFor()
    // Again where the page had not begun to wait yet
    const wordsAMinuteLater = async () => {
      await page.clock.fastForward(61_000)
      return words.textContent()
    }
    await expect.poll(wordsAMinuteLater, SOON).toBe('')
    expectRefusals(opened, 429)
  })

  test('of a time that is only half entered is not sent, and deletes nothing', async () => {
    const { uuid, editCode } = await givenEvent('Half a time', 5)
    await stage.server.send('PATCH', `/event/${uuid}`, {
      editCode,
      options: [['distribution_start_date', iso(-60)]],
    })
    const address = `${stage.server.origin}/organise?event=${uuid}`
    const { page } = await open(address, { size: 'phone', clockMs: REFERENCE_TIME_MS })
    const hands = handsAt(page)
    await hands.open(editCode)

    await page.locator('#opens-at').press('Backspace')
    await hands.press('controls.times.save')
    await hands.expectText('controls.times.wrong')
    expect(await optionsOf(uuid)).toMatchObject({ distribution_start_date: iso(-60) })
    await hands.press('controls.times.undo')
    await expect.poll(() => page.locator('#opens-at').inputValue(), SOON).toBe(localTime(-60))

    await page.locator('#closes-at').press('1')
    await hands.press('controls.times.save')
    await hands.expectText('controls.times.wrong')
    expect(await optionsOf(uuid)).toMatchObject({ distribution_end_date: null })
    await page.locator('#closes-at').fill('2036-01-01T00:00')
    const { expiry_date } = await stage.server.data<EventInfo>(`/event/${uuid}`)
    const day = new Date(expiry_date!).toLocaleDateString('en-GB', { dateStyle: 'medium' })
    await page.locator('#too-late', { hasText: day }).waitFor()
    await page.locator('#real-end', { hasText: day }).waitFor()
  })

  test('of somebody else is seen without a press', async () => {
    const { uuid, editCode } = await givenEvent('Two organisers', 5)
    const { page } = await open(`${stage.server.origin}/organise?event=${uuid}`, { size: 'phone' })
    const hands: Hands = handsAt(page)
    await hands.open(editCode)
    await stage.server.send('PATCH', `/event/${uuid}`, { editCode, options: [['enabled', false]] })
    await hands.expectState('paused')
  })
})

test('the edit code is given once for the controls and the form that changes the event, and for no other event', async () => {
  const { uuid, editCode } = await givenEvent('Lantern Walk', 10)
  const other = await givenEvent('Orchard Feast', 10)
  const address = `${stage.server.origin}/organise?event=${uuid}`
  const opened = await open(address, { size: 'phone', clockMs: REFERENCE_TIME_MS })
  const { page } = opened
  const hands = handsAt(page)
  await hands.expectText('organise.next.made_here_full')
  await hands.open(editCode)
  await hands.expectText('organise.todo.more_in_controls')
  expect(await page.evaluate(`localStorage.getItem('landpass.events')`)).toContain(uuid)

  await hands.press('organise.todo.change')
  await page.locator('#places').fill('7,7')
  expect(await page.locator('#edit-code').inputValue()).toBe(editCode)
  await hands.press('organise.register.save')
  await hands.expectState('open')
  expect(await optionsOf(uuid)).toMatchObject({ coordinates: '7,7' })

  await hands.press('organise.todo.change')
  await hands.press('organise.back')
  await hands.expectState('open')

  await page.evaluate(`history.pushState(null, '', '/organise?event=${other.uuid}')`)
  await page.evaluate(`dispatchEvent(new PopStateEvent('popstate'))`)
  await page.getByRole('heading', { name: 'Orchard Feast' }).waitFor()
  expect(await page.locator('#edit-code').inputValue()).toBe('')
  expect(await page.locator('.controls').count()).toBe(0)

  // Kept on the device, where the organiser wants that, and offered to password managers as one account for each event
  const ofManagers = `[...document.querySelectorAll('.access-form input[autocomplete]')].map((input) =>
    [input.autocomplete, input.type, input.autocomplete === 'username' ? input.value : ''].join(' '))`
  expect(await page.evaluate(ofManagers)).toEqual([
    'username text Orchard Feast',
    'current-password password ',
  ])
  await page.locator('#keep-code').check()
  await expectGoodControls(opened, 'door')
  await hands.open(other.editCode)
  await page.reload()
  await hands.expectState('open')
  await hands.expectText('controls.code.kept')
  const stored = () => page.evaluate<string | null>(`localStorage.getItem('landpass.codes')`)
  expect(await stored()).toContain(other.editCode)

  await page.getByText(hands.say('controls.codes.heading')).click()
  await hands.press('controls.codes.make')
  await hands.expectText('controls.codes.wrong')
  await page.locator('#code-name').fill('Ann')
  await hands.press('controls.codes.make')
  const helper = page.locator('[data-part=codes] code')
  await helper.waitFor()
  const check = { editCode: await helper.textContent() }
  const isRight = async () =>
    (await stage.server.send('POST', `/event/${other.uuid}/check`, check)).status === 200
  expect(await isRight()).toBe(true)
  await expectGoodControls(opened, 'codes')
  await page.getByRole('button', { name: hands.say('controls.codes.revoke_named', { name: 'Ann' }) }).click()
  await helper.waitFor({ state: 'detached' })
  expect(await isRight()).toBe(false)
  await hands.press('controls.code.forget')
  expect(await stored()).toBeNull()

  // A choice holds as soon as it is made, also where the controls cannot be opened
  const keep = (code: string) =>
    page.evaluate(`localStorage.setItem('landpass.codes', '${JSON.stringify([[other.uuid, code]])}')`)
  const reports = /\/event\/.*\/report$/
  await keep(other.editCode)
  await page.route(reports, (route) => route.fulfill({ status: 503 }))
  await page.reload()
  await page.locator('#keep-code:checked').waitFor()
  await page.locator('#keep-code').uncheck()
  await expect.poll(stored, SOON).toBeNull()
  await page.unroute(reports)
  await keep('0'.repeat(32))
  await page.reload()
  await hands.expectText('organise.change.wrong_code')
  await expect.poll(stored, SOON).toBeNull()
  expectRefusals(opened, 401, 503) // the map: this server has no land
})

async function givenEvent(name: string, tokens: number): Promise<MadeEvent> {
  const today = iso(0).slice(0, 10)
  const body = { name, coordinates: '5,-2', start_date: today, end_date: today, tokens }
  const { status, body: answer, text } = await stage.server.send('POST', '/events', body)
  expect(status, text).toBe(200)
  const { event, edit_code } = answer.data as { event: { uuid: string }; edit_code: string }
  return { uuid: event.uuid, editCode: edit_code }
}

function playerNamed(name: string, place: typeof HERE): Promise<SimulatedPlayer> {
  return playerAt(stage.outside, name, place, stage.clock.nowMs())
}

/** Waits until the page, which is looking by itself, says how many tokens were given out. */
async function untilGivenOut(page: Page, count: string): Promise<void> {
  await expect.poll(async () => (await numbersOf(page))[1], SOON).toBe(count)
}

/** Left, given out, and in all. */
function numbersOf(page: Page): Promise<string[]> {
  return page.locator('.numbers dd').allTextContents()
}

function switchOf(page: Page, rule: string): Locator {
  return page.locator(`#switch-${rule}`)
}

/** Presses a switch, and waits until the server has confirmed it. */
async function switchTo(page: Page, rule: string, isOn: boolean): Promise<void> {
  await switchOf(page, rule).click()
  await page.locator(`#switch-${rule}[aria-checked=${isOn}][aria-disabled=false]`).waitFor()
}

async function optionsOf(uuid: string): Promise<object> {
  return stage.server.data<object>(`/event/${uuid}`)
}

/** Some minutes from the test's time; the browser of the tests is in UTC. */
function iso(minutes: number): string {
  return new Date(REFERENCE_TIME_MS + minutes * 60_000).toISOString()
}

function localTime(minutes: number): string {
  return iso(minutes).slice(0, 16)
}
