import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseWorld } from '@landpass/client/grid'
import { HOUR_MS } from '@landpass/server/clock'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
} from '@landpass/server/test/support/attendance/attendance-server'
import { emptyDir, freshEngine } from '@landpass/server/test/support/database/engines'
import { REFERENCE_TIME_MS, type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { expectAccessible } from '@landpass/server/test/support/pages/axe'
import { type OpenedPage, SOON, testBrowser } from '@landpass/server/test/support/pages/browser'
import { expectRefusals, handsAt, wordsOf } from '@landpass/server/test/support/pages/controls-page'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/**
 * Events that are made on this server, and the pages of their tokens, in a real browser: from the form to a token that the
 * browser has checked.
 */

const WORLD = '-10,-10,10,10'
const NAME = 'Größe · 港の灯り'
/** The longest name, which has no place to break. */
const LONG_NAME = 'x'.repeat(100)
const TODAY = new Date(REFERENCE_TIME_MS).toISOString().slice(0, 10)
const TOMORROW = new Date(REFERENCE_TIME_MS + 24 * HOUR_MS).toISOString().slice(0, 10)
const IN_BROWSER = { accept: 'text/html,*/*;q=0.8' }

interface Token {
  readonly id: string
  readonly uuid: string
  readonly editCode: string
  readonly address: string
}

/** An attestation of version 0, as far as the page reads it. */
const LEGACY = JSON.stringify({
  sig: { version: 0, uid: `0x${'1'.repeat(64)}`, message: {}, signature: {} },
  signer: `0x${'1'.repeat(40)}`,
})
const OPERATOR_KEY = 'an-operator-key-for-tests-alone,-not-a-secret'
const openEngine = freshEngine('postgres')
const open = testBrowser()
let outside: OutsideWorld
let clock: TestClock
let server: AttendanceServer
/** Another process of the server, with other settings. */
let startAnother: (env: Record<string, string>) => Promise<AttendanceServer>

beforeAll(async () => {
  clock = testClock()
  const [world, engine] = await Promise.all([startOutsideWorld(), openEngine()])
  outside = world
  const folder = emptyDir()
  await writeDemoSnapshot(1, folder, undefined, { radius: 10 })
  await importSnapshot(engine.db, folder, { world: parseWorld(WORLD)!, clock, dryRun: false })
  const env = {
    WORLD,
    TOKEN_KEY_FILE: join(mkdtempSync(join(tmpdir(), 'landpass-tokens-')), 'token.key'),
    EVENT_MAKERS: 'anyone',
    LIMIT_EVENTS_PER_MINUTE: '0',
  }
  server = await startAttendance(engine, clock, outside, env)
  startAnother = (others) => startAttendance(engine, clock, outside, { ...env, ...others })
})
afterAll(() => server.close())

describe('the whole way', () => {
  test('on a phone: choose, describe, keep the code, claim, and see that the token is genuine', async () => {
    const opened = await open(`${server.origin}/organise`, { size: 'phone' })
    const { page } = opened
    const press = pressIn(page)
    await page.clock.setFixedTime(clock.nowMs())
    await page.getByRole('heading', { name: 'I have an event at POAP' }).waitFor()
    await expectGood(opened, 'ways-phone')
    await press('Make an event here')

    await press('Check the event')
    for (const fault of [
      'Please enter a name of one line. Pasted text may have invisible characters: then type it anew.',
      'Please choose at least one place.',
      'Please enter a day',
    ])
      await page.getByText(fault).first().waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.id'), SOON).toBe('event-name')
    await page.getByLabel('Name').fill(LONG_NAME)
    await page.getByLabel('Coordinates').fill('5,-2;6,-2')
    await page.getByLabel('Link (optional)').fill('http://lanterns.example')
    await page.getByLabel('First day').fill('2026-11-18')
    await page.getByLabel('Number of tokens').fill('1000001')
    await press('Check the event')
    for (const fault of [
      'Please enter an address that begins with https://.',
      'The last day is over, or before the first one',
      'Please enter a whole number from 1 to 1,000,000; this server allows no more.',
    ])
      await page.getByText(fault).waitFor()
    await page.getByLabel('Link (optional)').fill('')
    await page.getByLabel('First day').fill(TODAY)
    expect(await page.getByLabel('Last day').inputValue(), 'in sight, not guessed').toBe(TODAY)
    await page.getByLabel('Picture (optional)').setInputFiles({
      name: 'picture.png',
      mimeType: 'image/png',
      buffer: PNG.sync.write(new PNG({ width: 32, height: 32 })),
    })
    await page.getByText('This file cannot be used').waitFor()
    await page.getByText('Without one, the server draws a picture.').waitFor()
    await page.getByLabel('Picture (optional)').setInputFiles({
      name: 'square.png',
      mimeType: 'image/png',
      buffer: PNG.sync.write(new PNG({ width: 64, height: 64 })),
    })
    const chosen = page.getByRole('img', { name: 'The chosen picture' })
    await chosen.waitFor()
    const radius = "getComputedStyle(document.querySelector('.chosen-picture img')).borderRadius"
    expect(await page.evaluate(radius), 'a square, as all other pages show it').toBe('0px')
    await press('Remove the picture')
    await page.getByLabel('Number of tokens').fill('20')
    await page.getByLabel('From (optional)').fill('18:00')
    await page.getByLabel('Until (optional)').fill('17:00')
    await press('Check the event')
    await page.getByText('The end must be after the beginning').waitFor()
    await page.getByLabel('Last day').fill(TOMORROW)
    await page
      .getByText('Players can claim from 20 Nov 2026, 18:00 on. They can claim until 21 Nov 2026, 17:00.')
      .waitFor()
    await page.getByText('All times in UTC.').waitFor()
    const zone = page.getByLabel('Time zone of the event')
    await zone.selectOption('Europe/Paris')
    await page.getByText('This device is in UTC.').waitFor()
    await page.getByText('All times in Europe/Paris (GMT+1).').waitFor()
    await page.getByLabel('Last day').fill('2027-10-31')
    await page.getByLabel('Until (optional)').fill('02:30')
    await page.getByText('The second one (GMT+1)').click()
    await page.getByText('They can claim until 31 Oct 2027, 02:30.').waitFor()
    await expectGood(opened, 'make-repeated-hour-phone')
    await page.getByLabel('Last day').fill('2027-03-28')
    await press('Check the event')
    await page.getByText('In Europe/Paris there is no 02:30 that night').waitFor()
    await page.getByLabel('Last day').fill(TOMORROW)
    await page.getByLabel('Until (optional)').fill('17:00')
    await page.getByText('A token tells everybody who was at this place, and when.').waitFor()
    await expectGood(opened, 'make-hours-phone')
    await page.getByLabel('From (optional)').press('Backspace')
    await press('Check the event')
    await page.getByText('Only a part of this is entered.').waitFor()
    await page.getByLabel('From (optional)').fill('18:00')
    await expectGood(opened, 'make-phone')
    await press('Check the event')
    await page.getByRole('heading', { name: 'Is this right?' }).waitFor()
    await page.getByRole('img', { name: /^Map of the places of/ }).waitFor()
    await expectGood(opened, 'review-phone')
    await press('Back to the form')
    expect(await page.getByLabel('Name').inputValue()).toBe(LONG_NAME)
    await page.getByLabel('Name').fill(NAME)
    await press('Check the event')
    await press('Make the event')

    const code = (await page.locator('.uuid code').textContent())!
    expect(code).toMatch(/^[0-9a-f]{32}$/)
    const opening = '20 Nov 2026, 17:00 (20 Nov 2026, 18:00 in Europe/Paris)'
    await page.getByText(`Players can claim from ${opening} on.`).waitFor()
    await expectGood(opened, 'made-phone')
    await press('See the event')
    await page.getByText('Please keep the edit code first').waitFor()
    await page.getByLabel('I have kept the edit code').check()
    await press('See the event')
    // The page of the event takes the code over
    await page.locator('.controls-state').getByText(`Opens on ${opening}.`).waitFor()
    const headings = await page.locator('main h2:visible').allTextContents()
    expect(headings.slice(0, 3), 'what the organiser needs now').toEqual([
      'Right now',
      'For your booth',
      'Rehearsal',
    ])
    await expectGood(opened, 'live-early-phone')
    await page.getByText('More controls').click()
    await press('Forget the edit code')
    await page.getByText('This event is not open yet.').first().waitFor()
    await page.getByRole('img', { name: /^Picture of the token/ }).waitFor()
    await page.getByText('The places on the map').click()
    await page.getByRole('img', { name: /^Map of the places/ }).waitFor()
    const holders = page.getByRole('link', { name: 'List of the holders (CSV)' })
    expect(await holders.getAttribute('href')).toMatch(/^\/events\/[0-9a-f-]{36}\/holders\.csv$/)
    await expectGood(opened, 'live-phone')
    expect(await page.content()).not.toContain(code)

    await press('Change the event')
    await press('Save')
    await page.getByText('Please enter the edit code of the event.').waitFor()
    await page.getByLabel('Edit code').fill(code)
    await page.getByLabel('Number of tokens').fill('19')
    await page.getByLabel('Coordinates').fill('5,-2;6,-2;7,-2')
    await press('Save')
    await page.getByText('Please enter a whole number from 20 to 1,000,000').waitFor()
    await page.getByLabel('Number of tokens').fill('25')
    await page.getByLabel('From (optional)').fill('')
    await page.getByLabel('Description').fill('With a roof.')
    await page.getByLabel('Keep the list of holders private').check()
    await expectGood(opened, 'change-phone')
    await press('Save')
    await page.getByText('The change is saved.').waitFor()
    await page.getByText('The token is yours.').waitFor()
    await expect.poll(() => page.locator('.numbers dd').allTextContents(), SOON).toEqual(['25', '0', '25'])
    expect(await page.locator('.places li').allTextContents()).toEqual(['5,-2', '6,-2', '7,-2'])
    expect(await page.content()).not.toContain(code)
    const uuid = new URL(page.url()).searchParams.get('event')!
    expect((await server.get(`/event/${uuid}`)).body.data).toMatchObject({ description: 'With a roof.' })
    expect((await server.get(`/events/${uuid}/holders`)).body.code).toBe('holders_hidden')
    expect((await server.get(`/event/${uuid}`)).body.data).toMatchObject({
      distribution_start_date: '2026-11-19T10:00:00.000Z',
      distribution_end_date: `${TOMORROW}T16:00:00.000Z`,
      time_zone: 'Europe/Paris',
    })
    await page.getByText('until 21 Nov 2026, 16:00 (21 Nov 2026, 17:00 in Europe/Paris)').waitFor()
    const { id } = await claim(uuid, 'ann')
    await press('Change the event')
    await page.getByLabel('Edit code').fill(code)
    await page.getByLabel('Name').fill('Lantern Night')
    await page.getByLabel('Coordinates').fill('7,-2;5,-2')
    await page.getByLabel('Link (optional)').fill('lanterns.example')
    await press('Save')
    await page.getByText('Please enter an address that begins with https://.').waitFor()
    await page.getByLabel('Link (optional)').fill('https://lanterns.example/')
    await page.getByLabel('Last day').fill('2026-11-23')
    await press('Save')
    await page.getByText('The change is saved.').waitFor()
    expect((await server.get(`/event/${uuid}`)).body.data).toMatchObject({
      ...{
        name: 'Lantern Night',
        event_url: 'https://lanterns.example/',
        event_end_date: '2026-11-23T00:00:00.000Z',
      },
      distribution_end_date: '2026-11-23T16:00:00.000Z',
    })
    await press('Change the event')
    await page.getByLabel('Edit code').fill(code)
    await page.getByText('Cancel or delete the event').click()
    await press('Delete the event')
    await press('Delete it for good')
    await page.getByText('Players have claimed tokens of this event, so it cannot be deleted').waitFor()
    await expectGood(opened, 'change-end-phone')
    await press('Cancel the event')
    await page.getByText('The event is cancelled.').waitFor()
    await page.getByText('Cancelled by the organiser.').waitFor()
    await expectGood(opened, 'cancelled-phone')
    const unused = await givenMade()
    await page.goto(`${server.origin}/organise?event=${unused.uuid}&change`)
    await page.getByLabel('Edit code').fill(unused.editCode)
    await page.getByText('Cancel or delete the event').click()
    await press('Delete the event')
    await press('Delete it for good')
    await page.getByRole('heading', { name: 'I have an event at POAP' }).waitFor()
    expect((await server.get(`/event/${unused.uuid}`)).body.code).toBe('event_not_found')

    await page.goto(`${server.origin}/tokens/${id}`)
    await page.getByRole('heading', { name: 'Genuine' }).waitFor()
    await page.getByText('Lantern Night').waitFor()
    await page.getByText('Parcel 7,-2').waitFor()
    await page.getByText(/^Not taken back as of /).waitFor()
    await page.getByText('This token says that its holder attended the event.').waitFor()
    await page.getByRole('img', { name: 'Map around parcel 5,-2' }).waitFor()
    await page.getByRole('img', { name: `QR code of ${server.origin}/tokens/${id}` }).waitFor()
    expect(await page.title()).toMatch(new RegExp(`^${NAME} #\\d+ · Landpass$`))
    await expectGood(opened, 'token-phone')
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectGood(opened, 'token-phone-dark')
    // Dark letters, although the screen is dark
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' })
    expect(await page.evaluate("getComputedStyle(document.querySelector('.card dt')).color")).toBe(
      'rgb(74, 84, 100)',
    )
    await page.emulateMedia({ colorScheme: 'dark', media: 'screen' })
    expectRefusals(opened, 403, 409)
  })

  test('on a desktop, in French: a token, the collection, a token that was taken back, and one that is not as signed', async () => {
    const token = await givenToken('ben')
    const opened = await open(`${server.origin}/addresses/0x${'1'.repeat(40)}/tokens`, {
      size: 'desktop',
      locale: 'fr-FR',
      theme: 'dark',
    })
    const { page } = opened
    await page.getByRole('heading', { name: 'Pas encore de jetons' }).waitFor()
    await expectGood(opened, 'collection-empty-desktop-fr-dark')
    await page.clock.setFixedTime(clock.nowMs())
    await page.goto(`${server.origin}/addresses/${token.address}/tokens`)
    await page.getByText('Jetons : 1').waitFor()
    await expectGood(opened, 'collection-desktop-fr-dark')
    await page.route('**/tokens?*', async (route) => {
      const answer = await route.fetch()
      const { ok, data } = (await answer.json()) as { ok: boolean; data: object }
      const event = { id: 7, uuid: token.uuid, name: 'Fête', places: '5,-2' }
      const poaps = [{ issuer: 'poap', event, time: new Date(REFERENCE_TIME_MS).toISOString() }]
      return route.fulfill({ response: answer, json: { ok, data: { ...data, poaps, poaps_total: 1 } } })
    })
    await page.reload()
    await page.getByRole('heading', { name: 'De POAP' }).waitFor()
    await page.getByText('Jetons : 2').waitFor()
    await expectGood(opened, 'collection-poap-desktop-fr-dark')
    await page.unroute('**/tokens?*')
    await page.getByRole('link', { name: NAME }).click()
    await page.getByRole('heading', { name: 'Authentique' }).waitFor()
    await expectGood(opened, 'token-desktop-fr-dark')

    await page.route(`**/tokens/${token.id}`, async (route) => {
      if (route.request().resourceType() === 'document') return route.fallback()
      const answer = await route.fetch()
      return route.fulfill({ response: answer, body: (await answer.text()).replace('5,-2', '5,-3') })
    })
    await page.reload()
    await page.getByRole('heading', { name: 'Abîmé' }).waitFor()
    const attended = page.getByText('Ce jeton dit que son détenteur a participé')
    expect(await attended.count()).toBe(0)
    await page.unroute(`**/tokens/${token.id}`)

    const body = { editCode: token.editCode, reason: 'Erreur de la caisse' }
    expect((await server.send('POST', `/tokens/${token.id}/revocation`, body)).status).toBe(200)
    await page.goto(`${server.origin}/tokens/${token.id}?again`)
    await page.getByRole('heading', { name: 'Retiré' }).waitFor()
    await page.getByText('Erreur de la caisse').waitFor()
    expect(await attended.count()).toBe(0)
    await expectGood(opened, 'token-revoked-desktop-fr-dark')
  })
})

describe('the page that checks a token', () => {
  test('on a phone: takes a link of the public explorer or a file, and says what an old attestation is', async () => {
    const token = await givenToken('gil')
    const { explorer_url: link } = await server.data<{ explorer_url: string }>(`/tokens/${token.id}`)
    const { text: file } = await server.get(`/tokens/${token.id}/attestation`)
    const opened = await open(`${server.origin}/tokens/${token.id}`, { size: 'phone' })
    const { page } = opened
    await page.getByText('How it was checked').click()
    await page.getByRole('link', { name: 'Check another token' }).click()
    const field = page.getByLabel('Link or content of the token')
    const check = async (given: string, heading: string) => {
      await field.fill(given)
      await page.getByRole('button', { name: 'Check' }).click()
      await page.getByRole('heading', { name: heading, exact: true }).waitFor()
    }

    await check(link, 'Genuine')
    await page.getByRole('heading', { name: NAME }).waitFor()
    await page.getByText(token.address, { exact: false }).waitFor()
    await expectGood(opened, 'check-phone')
    await check(JSON.stringify({ ...JSON.parse(file), signer: `0x${'1'.repeat(40)}` }), 'Damaged')
    expect(await page.getByRole('heading', { name: NAME }).count()).toBe(0)
    await check(file, 'Genuine')
    await check(LEGACY, 'Not from this server')
    await page.getByText('This is an attestation of version 0').waitFor()
    await field.fill('https://easscan.org/')
    await page.getByRole('button', { name: 'Check' }).click()
    await page.getByText('This is neither a link of the public explorer').waitFor()

    await page.goto(`${server.origin}/tokens/check?lang=es${new URL(link).hash}`)
    await page.getByRole('heading', { name: 'Auténtico' }).waitFor()
    await expectGood(opened, 'check-phone-es')
  })
})

describe('the form of an event that was made here', () => {
  test('takes a token back, with a reason that everybody can read', async () => {
    const token = await givenToken('dora')
    const other = await givenToken('emil')
    const opened = await open(`${server.origin}/organise?event=${token.uuid}&change`, { size: 'phone' })
    const { page } = opened
    const press = pressIn(page)
    await page.getByText('Take a token back').click()
    await press('Take the token back')
    await page.getByText('Please enter the edit code of the event.').waitFor()
    await page.getByLabel('Edit code').fill(token.editCode.toUpperCase().replace(/(.{4})/g, '$1 '))
    await press('Take the token back')
    await page.getByText('Please enter the address of a token’s page, or its id.').waitFor()
    await page.getByLabel('Token to take back').fill(`${server.origin}/tokens/${other.id}`)
    await press('Take the token back')
    await page.getByText('Please enter a reason of one line.').waitFor()
    await page.getByLabel('Reason').fill('Claimed by a machine')
    await press('Take the token back')
    await page.getByText('This token belongs to another event').waitFor()
    await expectGood(opened, 'take-back-phone')
    await page.getByLabel('Token to take back').fill(` ${server.origin}/tokens/${token.id.toUpperCase()}`)
    await press('Take the token back')
    await page.getByText('Token 1 is taken back.').waitFor()
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectGood(opened, 'taken-back-phone-dark')
    const { revoked } = await server.data<{ revoked: { reason: string } }>(`/tokens/${token.id}`)
    expect(revoked.reason).toBe('Claimed by a machine')

    // Only edit codes of the other issuer can be guessed, so only its events have passes
    expect(await page.getByText('Make all passes invalid').count()).toBe(0)
    expect(await page.content()).not.toContain(token.editCode)
  })
})

describe('where the operator alone makes events', () => {
  test.each([
    ['with access to POAP', {}, 'You need the event id and the edit code'],
    ['without', { ISSUER_API_KEY: '' }, 'This server has no access to POAP'],
  ])('the page says so, and what is known of the other way: %s', async (name, env, ofPoap) => {
    const closed = await startAnother({ EVENT_MAKERS: 'operator', OPERATOR_KEY, ...env })
    const opened = await open(`${closed.origin}/organise?way=here`, { size: 'phone' })
    const { page } = opened
    await page.getByText('Only the operator of this server makes and approves events here').waitFor()
    await page.getByText(ofPoap).waitFor()
    const buttons = await page.locator('.way button').allTextContents()
    expect(buttons).toEqual(name === 'without' ? [] : ['I have an event at POAP'])
    await expectGood(opened, `ways-operator-${name.split(' ')[0]}-phone`)
    await closed.close()
  })
})

describe('where the operator approves events', () => {
  test('the page of an event says that it waits, and that it was refused, without counts of nothing', async () => {
    const approving = await startAnother({ EVENT_MAKERS: 'approved', OPERATOR_KEY })
    const event = { name: NAME, coordinates: '5,-2', start_date: TODAY, tokens: 5 }
    const made = await approving.send('POST', '/events', event)
    const { uuid } = (made.body.data as unknown as { event: { uuid: string } }).event
    const opened = await open(`${approving.origin}/organise?event=${uuid}`, { size: 'phone' })
    const { page } = opened
    await page.getByText('Waiting for the operator of this server.').waitFor()
    expect(await page.locator('.numbers').count()).toBe(0)
    await expectGood(opened, 'event-waiting-phone')

    const operator = { 'operator-key': OPERATOR_KEY }
    await approving.send('POST', `/events/${uuid}/approval`, { approval: 'refused' }, operator)
    await page.reload()
    const sentence = 'The operator of this server has refused this event'
    await page.getByText(`${sentence}.`).waitFor()
    await page.getByText('the operator can still approve it').waitFor()
    await page.getByText(`${sentence}, so it gives out no tokens`).waitFor()
    expect(await page.locator('.numbers').count()).toBe(0)
    await page.emulateMedia({ colorScheme: 'dark' })
    await expectGood(opened, 'event-refused-phone-dark')
    await approving.close()
  })

  test.each([
    ['en', 'en-GB'],
    ['fr', 'fr-FR'],
  ] as const)(
    'the operator reads and answers with a phone, and the organiser sees why: %s',
    async (language, locale) => {
      const approving = await startAnother({ EVENT_MAKERS: 'approved', OPERATOR_KEY })
      const name = `${NAME} ${language}`
      const image = PNG.sync.write(new PNG({ width: 64, height: 64 })).toString('base64')
      const event = { name, coordinates: '5,-2;6,-2', start_date: TODAY, tokens: 5, image }
      const made = await approving.send('POST', '/events', event)
      const { event: info, edit_code: editCode } = made.body.data as unknown as {
        event: { id: number; uuid: string }
        edit_code: string
      }
      const patch = (description: string) =>
        approving.send('PATCH', `/event/${info.id}`, { editCode, options: [['description', description]] })

      const opened = await open(`${approving.origin}/approve`, { size: 'phone', locale })
      const { page } = opened
      const say = wordsOf(language)
      const press = pressIn(page)
      await page.locator('#operator-key').fill('another')
      await press(say('approve.open'))
      await page.getByText(say('approve.wrong_key')).waitFor()
      expectRefusals(opened, 401)
      await expectGood(opened, `approve-key-${language}-phone`)
      await page.locator('#operator-key').fill(OPERATOR_KEY)
      await press(say('approve.open'))
      const card = page.locator('.waiting', { has: page.getByRole('heading', { name }) })
      const width = () => page.evaluate("document.querySelector('.waiting img.picture')?.naturalWidth")
      await expect.poll(width, SOON).toBe(64)
      await expectGood(opened, `approve-new-${language}-phone`)

      // Changed while the operator looks at it
      await patch('By the water.')
      const answer = (key: string) => card.getByRole('button', { name: say(key, { name }) }).click()
      const nameInWords = new RegExp(language === 'en' ? 'answered since you read' : 'a reçu une réponse')
      await answer('approve.approve_named')
      await page.getByText(nameInWords).waitFor()
      expectRefusals(opened, 409)
      await press(say('approve.again'))
      await card.getByText('By the water.').waitFor()
      await card.locator('textarea').fill('Welcome!')
      await card.locator('input.short').fill('6')
      await answer('approve.approve_named')
      await page.getByText(say('approve.tokens_fault', { count: 5 })).waitFor()
      await card.getByLabel(say('approve.may_give')).check()
      await card.locator('input.short').fill('3')
      await answer('approve.approve_named')
      await card.waitFor({ state: 'detached' })
      const availability = await approving.data(`/event/${info.uuid}/availability`)
      expect(availability).toMatchObject({ open: true, total: 3 })

      const ofOrganiser = await open(`${approving.origin}/organise?event=${info.uuid}`, {
        size: 'phone',
        locale,
      })
      const organiser = handsAt(ofOrganiser.page, say)
      await organiser.open(editCode)
      await ofOrganiser.page.getByText('Welcome!').waitFor()
      await organiser.press('organise.todo.change')
      await ofOrganiser.page.locator('#event-description').fill('Buy coins!')
      await organiser.press('organise.register.save')
      await organiser.expectText('organise.news.waits')
      await ofOrganiser.page.locator('[data-part=approval]').getByText('Buy coins!').waitFor()
      await expectGood(ofOrganiser, `change-waits-${language}-phone`)
      expect(await approving.data(`/event/${info.uuid}`)).toMatchObject({ description: 'By the water.' })

      await press(say('approve.again'))
      await card.getByText('Buy coins!').waitFor()
      await page.emulateMedia({ colorScheme: 'dark' })
      await expectGood(opened, `approve-change-${language}-phone-dark`)
      await card.locator('textarea').fill('No advertising.')
      await answer('approve.refuse_named')
      await card.waitFor({ state: 'detached' })
      await ofOrganiser.page.reload()
      await organiser.open(editCode)
      await organiser.expectText('approval.change_refused')
      await ofOrganiser.page.getByText('No advertising.').waitFor()
      expect(await approving.data(`/event/${info.uuid}`)).toMatchObject({ description: 'By the water.' })
      const stored = await page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
      )
      expect(stored, 'the key is in the memory of the page alone').not.toContain(OPERATOR_KEY)
      await ofOrganiser.page.goto('about:blank') // it asks for the event every few seconds
      await approving.close()
    },
  )

  test('the limit of events that wait is named, with a wait in hours', async () => {
    const bounded = await startAnother({
      ...{ EVENT_MAKERS: 'approved', OPERATOR_KEY, LIMIT_WAITING_EVENTS_PER_DAY: '1' },
    })
    const event = { name: NAME, coordinates: '5,-2', start_date: TODAY, tokens: 5 }
    expect((await bounded.send('POST', '/events', event)).status).toBe(200)
    const opened = await open(`${bounded.origin}/organise?way=here`, { size: 'phone' })
    const { page } = opened
    await page.clock.setFixedTime(clock.nowMs())
    await page.getByLabel('Name').fill(NAME)
    await page.getByLabel('Coordinates').fill('5,-2')
    await page.getByLabel('First day').fill(TODAY)
    await pressIn(page)('Check the event')
    await pressIn(page)('Make the event')
    await page.getByText('The limit of events that wait for the operator is reached today.').waitFor()
    await page.getByText('You can try again in 24 hours.').waitFor()
    await expectGood(opened, 'waiting-full-phone')
    expect(opened.problems.splice(0)).toEqual([
      `429: ${bounded.origin}/events`,
      expect.stringContaining('console'),
    ])
    await bounded.close()
  })

  // The last one: its event goes on waiting
  test('the operator sees the condition of the server, and what to do about it', async () => {
    const approving = await startAnother({ EVENT_MAKERS: 'approved', OPERATOR_KEY })
    const event = { name: NAME, coordinates: '5,-2', start_date: TODAY, tokens: 5 }
    expect((await approving.send('POST', '/events', event)).status).toBe(200)
    const opened = await open(`${approving.origin}/operate`, { size: 'phone', locale: 'fr-FR' })
    const { page } = opened
    const say = wordsOf('fr')
    await page.locator('#operator-key').fill('another')
    await pressIn(page)(say('operate.open'))
    await page.getByText(say('approve.wrong_key')).waitFor()
    expectRefusals(opened, 401)
    await page.locator('#operator-key').fill(OPERATOR_KEY)
    await pressIn(page)(say('operate.open'))

    const part = (name: string) => page.locator('.part', { hasText: say(`operate.part.${name}`) })
    await part('events').getByText(say('operate.problem.events_wait')).waitFor()
    await part('database').getByText(say('operate.condition.good')).waitFor()
    await part('chain').getByText(say('operate.condition.off')).waitFor()
    await expectGood(opened, 'operate-fr-phone')
    await page.emulateMedia({ colorScheme: 'dark' })
    await pressIn(page)(say('operate.again'))
    await expectGood(opened, 'operate-fr-phone-dark')
    await page.getByRole('link', { name: say('approve.title') }).click()
    await page.getByRole('heading', { name: say('approve.title') }).waitFor()
    await approving.close()
  })
})

describe('what a program that previews links reads', () => {
  test('is title, text and picture, in the language of the link, with the name escaped', async () => {
    const { id } = await givenToken('cleo', { name: '<b>"Harbour" & co</b>' })
    const { status, headers, bytes } = await server.ask('GET', `/tokens/${id}?lang=es`, {
      headers: IN_BROWSER,
    })
    const html = bytes.toString()

    expect([status, headers['content-language'], headers.vary]).toEqual([
      200,
      'es',
      expect.stringMatching(/^accept, accept-language/),
    ])
    expect(html).toContain('<html lang="es"')
    expect(html).toMatch(
      /<meta property="og:title" content="&lt;b>&quot;Harbour&quot; &amp; co&lt;\/b> #\d+" \/>/,
    )
    expect(html).toMatch(
      /og:description" content="Este token de asistencia dice que su titular asistió a .*parcela 5,-2/,
    )
    expect(html).toContain(`og:image" content="${server.origin}/tokens/${id}/share.png"`)
    const picture = PNG.sync.read((await server.ask('GET', `/tokens/${id}/share.png`)).bytes)
    expect(html).toContain(`og:image:width" content="${picture.width}"`)
    expect(html).toContain(`og:image:height" content="${picture.height}"`)
    expect(html).toContain('twitter:card" content="summary_large_image"')
    expect(headers['content-security-policy']).toContain("default-src 'none'")
  })

  test('is a page with 404 for a token that does not exist; programs get JSON', async () => {
    const path = `/tokens/${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`
    const page = await server.ask('GET', path, { headers: IN_BROWSER })
    const json = await server.ask('GET', path)
    const odd = await server.ask('GET', '/tokens/x', { headers: IN_BROWSER })

    expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
    expect(odd.status).toBe(404)
    expect([json.status, JSON.parse(json.bytes.toString()).code]).toEqual([404, 'token_not_found'])
  })

  test('is a page with 400 where the address of a collection is none, as for programs', async () => {
    const statusOf = async (headers = {}) =>
      (await server.ask('GET', '/addresses/x/tokens', { headers })).status
    expect([await statusOf(IN_BROWSER), await statusOf()]).toEqual([400, 400])
  })
})

async function givenToken(player: string, fields: object = {}): Promise<Token> {
  const made = await givenMade(fields)
  return { ...(await claim(made.uuid, player)), ...made }
}

async function givenMade(fields: object = {}): Promise<{ readonly uuid: string; readonly editCode: string }> {
  const event = { name: NAME, coordinates: '5,-2', start_date: TODAY, tokens: 5, ...fields }
  const made = await server.send('POST', '/events', event)
  expect(made.status, made.text).toBe(200)
  const { event: info, edit_code: editCode } = made.body.data as unknown as {
    event: { uuid: string }
    edit_code: string
  }
  return { uuid: info.uuid, editCode }
}

async function claim(uuid: string, name: string) {
  const player = await playerAt(outside, `tokens page ${name}`, { x: 5, y: -2 }, clock.nowMs())
  const claimed = await server.claim(uuid, player)
  expect(claimed.status, claimed.text).toBe(200)
  const { tokens } = await server.data<{ tokens: { id: string }[] }>(`/addresses/${player.address}/tokens`)
  return { id: tokens[0]!.id, address: player.address }
}

function pressIn(page: Page) {
  return (name: string) => page.locator('main').getByRole('button', { name, exact: true }).click()
}

/** Accessible, not wider than the screen, and photographed. */
async function expectGood({ page, photograph }: OpenedPage, name: string): Promise<void> {
  await expectAccessible(page)
  const [inner, whole] = await page.evaluate<number[]>('[innerWidth, document.documentElement.scrollWidth]')
  expect(whole, `width of ${name}`).toBeLessThanOrEqual(inner!)
  await photograph(`tokens-${name}`)
}
