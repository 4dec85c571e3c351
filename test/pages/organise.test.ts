import { join } from 'node:path'
import type { Report } from '@landpass/client'
import { parseWorld } from '@landpass/client/grid'
import { MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { type EventPlan, playerAt } from '@landpass/server/test/support/attendance/attendance-server'
import { attendanceStage } from '@landpass/server/test/support/attendance/attendance-stage'
import { emptyDir, freshDatabaseUrl, freshEngine } from '@landpass/server/test/support/database/engines'
import { findSecrets, type Output } from '@landpass/server/test/support/http/find-secrets'
import { REFERENCE_TIME_MS } from '@landpass/server/test/support/http/land-server'
import { COLOUR_RULES, expectAccessible } from '@landpass/server/test/support/pages/axe'
import {
  lookAgain,
  type OpenedPage,
  type OpenOptions,
  SOON,
  type Spot,
  testBrowser,
} from '@landpass/server/test/support/pages/browser'
import { PageMap } from '@landpass/server/test/support/pages/page-map'
import { type Env, serve } from '@landpass/server/test/support/processes/landpass'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'
import type { Locator, Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { describe, expect, test } from 'vitest'

/**
 * The organiser's form in a real browser, on a real server, with issuer and presence as programs of their own. An
 * organiser goes through it with an event that works, with everything that can go wrong, and without a mouse.
 */

const WORLD = '-10,-10,10,10'
/** The servers of one database need the same keys. */
const KEY_FILE = join(emptyDir(), 'token.key')
const EDIT_CODE = '012345'
const PLACES = '5,-2;6,-2'

const open = testBrowser()
const stage = attendanceStage(freshEngine('postgres'), {
  env: { WORLD },
  ownLimits: { organiserProofBits: 10 },
  prepare: async (engine, clock) => {
    const folder = emptyDir()
    await writeDemoSnapshot(1, folder, undefined, { radius: 10 })
    await importSnapshot(engine.db, folder, { world: parseWorld(WORLD)!, clock, dryRun: false })
  },
})
let lastId = 73_000
let bothWays: ReturnType<typeof stage.startAnother> | undefined
/** A server that makes events itself, too: one for all tests. */
const withBothWays = () => {
  bothWays ??= stage.startAnother({ TOKEN_KEY_FILE: KEY_FILE, EVENT_MAKERS: 'anyone' })
  return bothWays
}

describe('an event that works', () => {
  test('from the e-mail to the live page, where the counts change by themselves', async () => {
    const id = await givenEvent({ codes: 3, name: 'Harbour Lights Opening', start_date: '20-Nov-2026' })
    const opened = await openForm({ size: 'desktop' })
    const form = formOf(opened.page)
    await expectGood(opened, 'event')
    await opened.page.clock.install()

    await form.eventId.fill(String(id))
    await form.editCode.fill(EDIT_CODE)
    await expectText(opened.page, 'This event is not registered here yet')
    expect(await opened.page.locator('.notice-error').count(), 'a new event is no failure').toBe(0)
    await form.press('Continue')
    await expectStep(opened.page, 2, 'Where can players get the token?')
    await form.places.fill(PLACES)
    await expectText(opened.page, 'Places: 2')
    await expectGood(opened, 'places')
    await form.press('Continue')
    await expectStep(opened.page, 3, 'Register the event')
    await expectGood(opened, 'register')
    await form.press('Register the event')
    await expectStep(opened.page, 4, 'Load the tokens')
    await expectText(opened.page, '“Harbour Lights Opening” is registered.')
    await expectGood(opened, 'codes')
    await form.press('Load the tokens')

    await expectText(opened.page, 'New tokens loaded: 3. In all there are 3.')
    const { uuid } = await stage.server.data<{ uuid: string }>(`/event/${id}`)
    expect(opened.page.url()).toBe(`${stage.server.origin}/organise?event=${uuid}`)
    expect(await focusedText(opened.page)).toBe('Harbour Lights Opening')
    expect(await opened.page.title()).toBe('Harbour Lights Opening · Landpass')
    expect(await countsOf(opened.page)).toEqual({ Left: '3', 'Given out': '0', 'In all': '3' })
    await expectText(opened.page, 'Open: players can get a token now.')
    await expectGood(opened, 'live')

    const ann = await playerAt(stage.outside, 'organise ann', { x: 5, y: -2 }, stage.clock.nowMs())
    expect((await stage.server.claim(uuid, ann)).status).toBe(200)
    await opened.page.clock.fastForward(3 * SECOND_MS)
    await opened.page.locator('.numbers dd', { hasText: '2' }).waitFor()
    expect(await countsOf(opened.page)).toEqual({ Left: '2', 'Given out': '1', 'In all': '3' })
    expectRefusals(opened, 404)
  })

  test('the uuid can be copied, and the code scanned, in both themes', async () => {
    const uuid = await givenRegistered({ codes: 1 })
    for (const theme of ['light', 'dark'] as const) {
      const { page } = await openForm({ size: 'phone', theme }, `?event=${uuid}`)
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.getByRole('button', { name: 'Copy: uuid of the event' }).click()
      await expectText(page, 'Copied')
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(uuid)

      const address = `${stage.server.origin}/organise?event=${uuid}`
      const code = page.getByRole('img', { name: `QR code of ${address}` })
      const picture = PNG.sync.read(await code.screenshot())
      const [, side] = /0 0 (\d+)/.exec((await code.getAttribute('viewBox'))!)!
      const modulePx = picture.width / Number(side)
      expect(modulePx).toBeGreaterThan(4)
      // Through the middle of both upper corners: blank, the pattern that readers look for, and blank again
      const modules = Array.from({ length: Number(side) }, (_, module) => {
        const at = (cell: number) => Math.floor((cell + 0.5) * modulePx)
        return pixelOf(picture, { x: at(module), y: at(7) })[0]! < 128 ? '#' : '.'
      }).join('')
      await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
      await expectNoOverflow(page)
      expect(modules).toMatch(/^\.{4}#\.#{3}\.#\..*\.#\.#{3}\.#\.{4}$/)
    }
  })

  test('again: the form knows it, takes other places and more tokens, and the uuid stays', async () => {
    const uuid = await givenRegistered({ codes: 2, name: 'Lantern Walk' })
    const opened = await openForm({ size: 'phone', theme: 'dark' }, `?event=${uuid}`)
    const form = formOf(opened.page)
    await form.press('Change the event')
    await expectStep(opened.page, 1, 'Which event is it?')
    await expectText(opened.page, '“Lantern Walk” is registered here already.')
    await opened.photograph('organise-known-phone-dark')
    await opened.page.getByText('Make all passes invalid').click()
    await form.press('Make them invalid')
    await expectFault(form.editCode, 'Please enter the edit code of the event')
    await form.editCode.fill(EDIT_CODE)
    await form.press('Make them invalid')
    await expectText(opened.page, 'All earlier passes are invalid')
    await expectGood(opened, 'passes')
    await form.press('Change the places')
    await expectValue(form.places, PLACES)
    await form.places.fill('1,1; 2,1;1,1;')
    await form.press('Continue')
    await expectStep(opened.page, 3, 'Save the change')
    await opened.photograph('organise-save-phone-dark')
    await form.press('Save')
    await expectStep(opened.page, 4, 'Load the tokens')
    await form.press('See the event')
    await expectText(opened.page, 'The event is registered.')
    expect(await opened.page.locator('.places li').allTextContents()).toEqual(['1,1', '2,1'])
    expect(opened.page.url()).toContain(uuid)
    await opened.photograph('organise-live-phone-dark')

    const { id } = await stage.server.data<{ id: number }>(`/event/${uuid}`)
    await moreCodes(id, 5)
    await form.press('Change the event')
    await expectStep(opened.page, 1, 'Which event is it?') // the live page has a field for the code, too
    await form.editCode.fill(EDIT_CODE)
    await form.press('Load more tokens')
    await expectStep(opened.page, 4, 'Load the tokens')
    await form.press('Load the tokens')
    await expectText(opened.page, 'New tokens loaded: 5. In all there are 7.')

    await form.press('Change the event')
    await expectStep(opened.page, 1, 'Which event is it?') // the live page has a field for the code, too
    await form.editCode.fill(EDIT_CODE)
    await form.press('Load more tokens')
    await form.press('Load the tokens')
    await expectText(opened.page, 'The issuer has no new tokens since last time.')
  })

  test('the issuer has not made the tokens yet: the server loads them later by itself, if wanted, or the organiser does', async () => {
    const plan = { codes: 4, name: 'Slow Approval' }
    const id = await givenEvent({ ...plan, approved_after_ms: null })
    const opened = await openForm({ size: 'phone' })
    const form = formOf(opened.page)
    const asked: unknown[] = []
    opened.page.on('request', (request) => {
      if (request.url().includes('/addcodes/')) asked.push(request.postDataJSON().load_when_approved)
    })
    const storedUntil = async () => {
      const { body } = await stage.server.send('POST', `/event/${id}/report`, { editCode: EDIT_CODE })
      return (body.data as Report).codes_load?.until
    }
    await fillAndRegister(opened.page, id)
    await form.press('Load the tokens')
    await expectText(opened.page, 'The issuer has not made the tokens yet')
    expect(await opened.page.locator('.notice-error').count()).toBe(0)
    await expectGood(opened, 'waiting', ['light'])

    await opened.page
      .getByLabel('Let the server load the tokens when the issuer has approved the event')
      .check()
    await expectText(opened.page, 'keeps your edit code, encrypted, for at most 14 days')
    await expectGood(opened, 'loads-later')
    await form.press('Keep the code and load later')
    await expectText(opened.page, 'The server asks the issuer by itself until 4 Dec 2026, 00:00.')
    await expectGood(opened, 'loads-by-itself')
    expect(await storedUntil()).toBe('2026-12-04T00:00:00.000Z')
    await opened.page.getByLabel('Let the server load the tokens').uncheck()
    await form.press('Delete the kept code')
    await expectText(opened.page, 'When the e-mail has arrived, come back')
    expect(await storedUntil()).toBeUndefined()
    expect(asked).toEqual([undefined, true, false])

    await form.press('See the event')
    await expectText(opened.page, 'Waiting for the issuer to make the tokens.')
    await opened.photograph('organise-live-waiting-phone')
    await stage.outside.putEvent(id, { ...plan, edit_code: EDIT_CODE })
    await opened.page.locator('.counts').getByRole('button', { name: 'Load the tokens' }).click()
    await expectStep(opened.page, 1, 'Which event is it?')
    await form.editCode.fill(EDIT_CODE)
    await form.press('Load more tokens')
    await form.press('Load the tokens')
    await expectText(opened.page, 'New tokens loaded: 4.')
    expectRefusals(opened, 404)
  })

  test('places are drawn: a click adds or removes one, dragging many, and the text follows', async () => {
    const id = await givenEvent({ codes: 1 })
    const opened = await openForm({ size: 'desktop' })
    const { page } = opened
    const form = formOf(page)
    await form.eventId.fill(String(id))
    await form.editCode.fill(EDIT_CODE)
    await form.press('Continue')
    const theMap = new PageMap(page)
    const map = theMap.surface
    await map.scrollIntoViewIfNeeded()
    const { x, y, width, height } = (await map.boundingBox())!
    const middle = { x: x + width / 2, y: y + height / 2 }
    await theMap.shows()
    const near = await opened.look()
    await opened.press(middle)
    await expectValue(form.places, '0,0')
    await expect
      .poll(async () => pixelOf(await opened.look(), middle), { ...SOON, message: 'the parcel is painted' })
      .not.toEqual(pixelOf(near, middle))
    await opened.press(middle)
    await expectValue(form.places, '')

    await opened.drag(middle, { x: middle.x + height / 6, y: middle.y - height / 6 })
    await expect.poll(() => form.places.inputValue(), SOON).toContain('0,0')
    const drawn = placesIn(await form.places.inputValue())
    const east = Math.max(...drawn.map(([column]) => column))
    const north = Math.max(...drawn.map(([, row]) => row))
    expect(east).toBeGreaterThan(0)
    expect(drawn).toHaveLength((east + 1) * (north + 1))
    await expectText(page, `Places: ${drawn.length}`)
    await opened.photograph('organise-drawn-desktop-light')

    const [scrolled, zoom] = [await page.evaluate('scrollY'), (await theMap.view()).zoom]
    await page.mouse.wheel(0, -100)
    await expectText(page, 'Hold Ctrl or Cmd')
    await expect.poll(() => page.evaluate('scrollY'), SOON).not.toBe(scrolled)
    expect((await theMap.view()).zoom).toBe(zoom)
    await page.keyboard.down('Control')
    await page.mouse.wheel(0, -100)
    await theMap.shows((view) => view.zoom > zoom)
    await page.keyboard.up('Control')

    await form.places.fill('0,0')
    await map.press('0')
    await theMap.shows((view) => view.x === 0 && view.y === 0)
    await page.evaluate(`document.querySelector('canvas').scrollIntoView({ block: 'center' })`)
    const atRest = async () => {
      await map.blur()
      await page.mouse.move(0, 0)
      return map.screenshot()
    }
    const blank = await atRest()
    await map.press('Shift+Enter')
    await map.press('ArrowUp')
    await map.click()
    await expectValue(form.places, '')
    await form.press('Undo')
    await expect.poll(async () => blank.equals(await atRest()), SOON).toBe(true)

    await form.places.fill('0,0;nowhere')
    await map.click()
    await expectValue(form.places, 'nowhere')
    await form.places.fill('')
    await map.focus()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await expect.poll(() => form.places.inputValue(), SOON).toMatch(/^-?\d+,-?\d+$/)
    await expectAccessible(page)
    expectRefusals(opened, 404)
  })

  test('a finger scrolls past the map, and draws after a press on Draw; that can be undone', async () => {
    const id = await givenEvent({ codes: 1 })
    const opened = await openForm({ size: 'phone' })
    const { page } = opened
    const form = formOf(page)
    await form.eventId.fill(String(id))
    await form.editCode.fill(EDIT_CODE)
    await form.press('Continue')
    const map = new PageMap(page)
    const { x, y, zoom } = await map.shows()
    const swipe = async (px: number) => {
      const { x, y } = await map.spotOf({ x: 0, y: 0 })
      await opened.drag({ x, y }, { x: x + 60, y: y - px })
    }

    // Below the screen the finger would miss the map.
    const before = await page.evaluate<number>(`(() => {
      document.querySelector('canvas').scrollIntoView({ block: 'center' })
      return scrollY
    })()`)
    const scrolledFar = page.evaluate(
      `new Promise((resolve) => onscrollend = () => scrollY > ${before + 50} && resolve())`,
    )
    await swipe(100)

    await scrolledFar
    expect(await map.view()).toEqual({ x, y, zoom })
    await expectValue(form.places, '')
    await opened.press(await map.spotOf({ x: 2, y: 1 }))
    await map.shows((view) => view.zoom >= 14 && view.x === 2 && view.y === 1)
    await expectValue(form.places, '')
    await opened.press(await map.spotOf({ x: 2, y: 1 }))
    await expectValue(form.places, '2,1')
    await page.locator('#place-search').fill('nowhere at all')
    await page.locator('#place-search').press('Enter')
    await expectText(page, 'No such place was found.')
    await page.locator('#place-search').fill('0,0')
    await form.press('Find')
    await map.shows((view) => view.x === 0 && view.y === 0)

    await form.press('Draw')
    await expectGood(opened, 'draw', ['light'])
    const scrolled = await page.evaluate('scrollY')
    await swipe(60)
    await expect.poll(async () => placesIn(await form.places.inputValue()).length, SOON).toBeGreaterThan(3)
    expect(await page.evaluate('scrollY')).toBe(scrolled)
    await form.press('Clear all')
    await form.press('Undo')
    await form.press('Undo')
    await expectValue(form.places, '2,1')
    await form.press('Undo')
    await expectValue(form.places, '')
    expect(await page.getByRole('button', { name: 'Undo' }).isDisabled()).toBe(true)
    expectRefusals(opened, 404)
  })

  test('without a mouse, from the first field to the copied uuid', async () => {
    const id = await givenEvent({ codes: 1 })
    const opened = await openForm({ size: 'desktop' })
    const { page } = opened
    const type = async (text: string) => page.keyboard.type(text)
    await tabTo(page, 'Event id')
    await type(String(id))
    await tabTo(page, 'Edit code')
    await type(EDIT_CODE)
    await page.keyboard.press('Enter')
    await expectStep(page, 2, 'Where can players get the token?')
    await tabTo(page, 'Coordinates')
    await type(PLACES)
    await tabTo(page, 'Continue')
    await page.keyboard.press('Enter')
    await expectStep(page, 3, 'Register the event')
    await tabTo(page, 'Register the event')
    await page.keyboard.press('Space')
    await expectStep(page, 4, 'Load the tokens')
    await tabTo(page, 'Load the tokens')
    await page.keyboard.press('Enter')
    await expectText(page, 'New tokens loaded: 1.')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await tabTo(page, 'Copy: uuid of the event')
    await page.keyboard.press('Enter')
    await expectText(page, 'Copied')
    expectRefusals(opened, 404)
  })
})

describe('what can go wrong', () => {
  test('mistakes are named before any request, each at its field, and nothing typed is lost', async () => {
    const id = await givenEvent({ codes: 1 })
    const opened = await openForm({ size: 'desktop' })
    const form = formOf(opened.page)
    await form.press('Continue')
    await expectFault(form.eventId, 'Please enter the event id')
    await form.eventId.fill('90001x')
    await form.press('Continue')
    await expectFault(form.eventId, 'digits only')
    await form.eventId.fill(String(id))
    await form.press('Continue')
    await expectFault(form.editCode, 'Please enter the edit code')
    await form.editCode.fill(EDIT_CODE)
    await form.press('Continue')

    await expectStep(opened.page, 2, 'Where can players get the token?')
    await form.press('Continue')
    await expectFault(form.places, 'Please choose at least one place.')
    await form.places.fill('1,1;here;2,2')
    await form.press('Continue')
    await expectFault(form.places, 'Place 2, “here”, is not two whole numbers')
    await opened.page.locator('.map-surface[data-picture=sharp]').waitFor() // the bounds are known
    await form.places.fill('1,1;11,0')
    await form.press('Continue')
    await expectFault(
      form.places,
      'Place 2, “11,0”, lies outside the world, which reaches from -10,-10 to 10,10',
    )
    await expectGood(opened, 'places-fault', ['dark'])
    expect(opened.asked.some((address) => address.includes('11,0'))).toBe(false)
    await expectValue(form.places, '1,1;11,0')
    await opened.page.getByRole('button', { name: 'Clear all' }).click()
    await expectText(opened.page, 'Places: 0')
    expectRefusals(opened, 404)
  })

  test('a wrong edit code and an unknown event are shown in the first step, at the edit code', async () => {
    const id = await givenEvent({ codes: 1 })
    const opened = await openForm({ size: 'phone' })
    const form = formOf(opened.page)
    await form.eventId.fill(String(id))
    await form.editCode.fill('999999')
    await form.press('Continue')
    await expectFault(form.editCode, 'this edit code do not belong together')
    await expectGood(opened, 'wrong-code')
    await expectValue(form.eventId, String(id))
    await form.editCode.fill(EDIT_CODE)
    await opened.page.getByText('do not belong together').waitFor({ state: 'detached' })
    expect(await form.editCode.getAttribute('aria-invalid'), 'while it is corrected').toBeNull()
    await form.press('Continue')
    await expectStep(opened.page, 2, 'Where can players get the token?')
    expectRefusals(opened, 401, 404)

    await opened.page.goto(`${stage.server.origin}/organise`)
    await form.eventId.fill('1999999999')
    await form.editCode.fill(EDIT_CODE)
    await form.press('Continue')
    await expectFault(form.editCode, 'this edit code do not belong together')
    await form.eventId.fill('2100000000')
    await expectText(opened.page, 'This server has no event with this name')
    await form.press('Continue')
    await expectFault(form.eventId, 'This server has no event with this name')
    expectRefusals(opened, 401, 404)
  })

  test('an edit code that stops being right is asked for again, and the form continues where it was', async () => {
    const plan = { codes: 1, name: 'Moonlight Market' }
    const id = await givenEvent(plan)
    const opened = await openForm({ size: 'desktop' })
    const form = formOf(opened.page)
    await fill(opened.page, id)
    await expectText(opened.page, 'Moonlight Market')
    await stage.outside.putEvent(id, { ...plan, edit_code: '543210' })
    await form.press('Register the event')
    await expectFault(form.editCode, 'this edit code do not belong together')
    await form.editCode.fill('543210')
    await form.press('Continue')
    await expectStep(opened.page, 3, 'Register the event')
    await expectText(opened.page, PLACES)
    await form.press('Register the event')
    await expectStep(opened.page, 4, 'Load the tokens')
    expectRefusals(opened, 401, 404)
  })

  test('a pasted link, a spaced code and places in brackets are understood; a claim code is not kept', async () => {
    const id = await givenEvent({ codes: 1 })
    const opened = await openForm({ size: 'phone' })
    const { page } = opened
    const form = formOf(page)
    await form.eventId.fill('https://poap.xyz/claim/a1b2c3')
    await expectFault(form.eventId, 'It holds a claim code, so it was not kept')
    await expectValue(form.eventId, '')
    expect(await page.content()).not.toContain('a1b2c3')
    await expectGood(opened, 'claim-link')
    await form.eventId.fill('https://collectors.poap.xyz/token/7591359')
    await expectText(page, 'This is the page of a single token')
    await form.eventId.fill('99999999999')
    await expectText(page, 'This number is too large for an event id')
    await form.eventId.fill(`Event ID: ${id}\nEdit code: word-2791`)
    await expectText(page, 'is no edit code, and was not kept')
    await expectValue(form.eventId, String(id))
    await expectValue(form.editCode, '')
    await form.eventId.fill(`Event ID: ${id}\nEdit code: ${EDIT_CODE}`)
    await expectText(page, 'it was put into its own field')
    await expectValue(form.eventId, String(id))
    await expectValue(form.editCode, EDIT_CODE)
    expect(await page.evaluate(EVERYTHING_KEPT)).not.toMatch(/012345|word-2791/)
    await expectGood(opened, 'code-pasted')

    await form.eventId.fill(`https://poap.gallery/event/${id}`)
    await expectText(page, 'This event is not registered here yet')
    await form.editCode.fill('０12 345')
    await form.press('Continue')
    await form.places.fill('(5, -2)\n６ －２')
    await expectText(page, 'Places: 2')
    await form.press('Continue')
    await expectStep(page, 3, 'Register the event')
    await expectText(page, PLACES)
    await form.press('Register the event')
    await expectStep(page, 4, 'Load the tokens')

    const { uuid } = await stage.server.data<{ uuid: string }>(`/event/${id}`)
    await page.goto(`${stage.server.origin}/organise`)
    await form.eventId.fill(`${stage.server.origin}/organise?event=${uuid}`)
    await expectText(page, 'is registered here already')
    await form.editCode.fill(EDIT_CODE)
    await form.press('Load more tokens')
    await expectStep(page, 4, 'Load the tokens')
    expectRefusals(opened, 404)
  })

  test('places that the server refuses are shown at their field', async () => {
    const id = await givenEvent({ codes: 1 })
    const { origin } = await stage.startAnother({ WORLD: '-10,-10,10,10;100,100,101,101' })
    const opened = await openForm({ size: 'desktop' }, '', origin)
    const form = formOf(opened.page)
    await fill(opened.page, id, EDIT_CODE, '1,1;50,50')
    await form.press('Register the event')
    await expectFault(form.places, 'The server does not take place 2, “50,50”')
    await expectValue(form.places, '1,1;50,50')
    expectRefusals(opened, 400, 404)
  })

  test('wrong codes of strangers: the page does the work that the server asks for, and has a pass from then on', async () => {
    const id = await givenEvent({ codes: 1 })
    await guessWrong(id)
    const opened = await openForm({ size: 'phone' })
    const { page } = opened
    await fill(page, id)
    await formOf(page).press('Register the event')
    await expectStep(page, 4, 'Load the tokens')

    const pass = await page.evaluate(`localStorage.getItem('landpass.pass.${id}')`)
    expect(pass).toMatch(/^2026-12-20T00:00:00.000Z [\w.-]{70,90}$/)
    await formOf(page).press('Load the tokens')
    await expectText(page, 'New tokens loaded: 1.')
    expectRefusals(opened, 429, 404)
  })

  test('the work can be cancelled: then a countdown, and the button waits for its end', async () => {
    const id = await givenEvent({ codes: 1 })
    await guessWrong(id)
    const opened = await openForm({ size: 'phone', theme: 'dark' })
    const { page } = opened
    await page.route(`**/event/${id}/check`, async (route) => {
      const response = await route.fetch()
      const body = (await response.text()).replace(/"bits":\d+/, '"bits":40') // never solved during the test
      await route.fulfill({ response, body })
    })
    await formOf(page).eventId.fill(String(id))
    await formOf(page).editCode.fill(EDIT_CODE)
    await page.clock.install()
    await formOf(page).press('Continue')
    await expectText(page, 'Somebody is sending many wrong edit codes')
    await page.locator('progress').waitFor()
    await expectGood(opened, 'proof-of-work')
    const phone = page.viewportSize()!
    await page.setViewportSize({ width: 1280, height: 800 })
    await expectGood(opened, 'proof-of-work')
    await page.setViewportSize(phone)
    await formOf(page).press('Cancel')
    await expectText(page, 'Too many wrong edit codes were sent')
    await expectText(page, /You can try again in (15:00|14:5\d)\./)
    expect(await page.getByRole('button', { name: 'Try again' }).isDisabled()).toBe(true)
    await expectGood(opened, 'too-many-guesses')

    stage.clock.set(REFERENCE_TIME_MS + 15 * MINUTE_MS)
    await page.clock.fastForward(15 * MINUTE_MS)
    await expectText(page, 'You can try again now.')
    await formOf(page).press('Try again')
    await expectStep(page, 2, 'Where can players get the token?')
    stage.clock.set(REFERENCE_TIME_MS)
    expectRefusals(opened, 429, 404)
  })

  async function guessWrong(id: number): Promise<void> {
    for (let guess = 0; guess < 5; guess++) {
      const wrong = { editCode: `guess-${guess}`, coordinates: '1,1' }
      expect((await stage.server.send('POST', `/event/${id}`, wrong)).status).toBe(401)
    }
  }

  test('too many requests, with the wait that the server names', async () => {
    const uuid = await givenRegistered({ codes: 1 })
    const { origin } = await stage.startAnother({ LIMIT_ORGANISER_PER_MINUTE: '1' })
    const opened = await openForm({ size: 'desktop' }, `?event=${uuid}`, origin)
    const { page } = opened
    const form = formOf(page)
    await form.press('Change the event')
    await expectStep(opened.page, 1, 'Which event is it?')
    await form.editCode.fill('1')
    await form.press('Load more tokens')
    await expectFault(form.editCode, 'do not belong together')
    await form.editCode.fill('2')
    await form.press('Change the places')
    await expectText(page, 'Too many requests came from you or from your network')
    await expectText(page, /You can try again in (1:00|0:5\d)\./)
    expectRefusals(opened, 401, 429)
  })

  test('failures of issuer and network are shown, and one button tries again without typing', async () => {
    const id = await givenEvent({ codes: 2 })
    const opened = await openForm({ size: 'desktop' })
    const { page } = opened
    const form = formOf(page)
    await form.eventId.fill(String(id))
    await form.editCode.fill(EDIT_CODE)
    await stage.outside.issuerSettings({ error_rate: 1, html_errors: true })
    await form.press('Continue')
    await expectText(page, 'The token issuer does not answer now. Nothing was lost')
    await expectGood(opened, 'issuer-unavailable')
    await stage.outside.issuerSettings({ error_rate: 0, html_errors: false })
    await form.press('Try again')
    await form.places.fill(PLACES)
    await form.press('Continue')
    await stage.outside.issuerSettings({ error_rate: 1, html_errors: true })
    await form.press('Register the event')
    await expectText(page, 'The token issuer does not answer now. Nothing was lost')
    await stage.outside.issuerSettings({ error_rate: 0, html_errors: false })
    await form.press('Try again')
    await expectStep(page, 4, 'Load the tokens')

    await page.context().setOffline(true)
    await form.press('Load the tokens')
    await expectText(page, 'You are offline; please check your connection')
    await page.context().setOffline(false)
    await form.press('Try again')
    await expectText(page, 'New tokens loaded: 2.')

    await page.context().setOffline(true)
    await lookAgain(page)
    await expectText(page, 'we keep trying')
    expect(await countsOf(page)).toMatchObject({ Left: '2' })
    await expectGood(opened, 'live-stale', ['light'])
    await page.context().setOffline(false)
    await page.getByText('we keep trying').waitFor({ state: 'detached' })
    expectRefusals(opened, 503, 404, 'ERR_INTERNET_DISCONNECTED')
  })

  test('a server that the issuer does not serve sends the organiser to its operator', async () => {
    const id = await givenEvent({ codes: 1 })
    const { origin } = await stage.startAnother({ ISSUER_API_KEY: 'a-key-of-nobody' })
    const opened = await openForm({ size: 'desktop' }, '', origin)
    await formOf(opened.page).eventId.fill(String(id))
    await formOf(opened.page).editCode.fill(EDIT_CODE)
    await formOf(opened.page).press('Continue')
    await expectText(opened.page, 'does not accept the credentials of this server')
    await expectText(opened.page, 'operator')
    expectRefusals(opened, 502, 404)
  })

  test('a server without the settings of an issuer shows no form that would fail, also on the page of an event', async () => {
    const uuid = await givenRegistered({ codes: 1 })
    const none = { ISSUER_API_KEY: '', ISSUER_CLIENT_ID: '', ISSUER_CLIENT_SECRET: '' }
    const [nothing, ownAlone] = [
      await stage.startAnother(none),
      await stage.startAnother({
        ...none,
        TOKEN_KEY_FILE: KEY_FILE,
        EVENT_MAKERS: 'approved',
      }),
    ]

    for (const locale of ['en-GB', 'fr-FR'] as const) {
      const opened = await openForm({ size: 'phone', locale }, '?way=poap', nothing.origin)
      await opened.page.locator('.notice', { hasText: 'docs/attendance/operators.md' }).waitFor()
      expect(await opened.page.locator('main form, main input').count()).toBe(0)
      await expectGood(opened, `nothing-offered-${locale}`)
    }
    const live = await openForm({ size: 'phone' }, `?event=${uuid}`, nothing.origin)
    await expectText(live.page, 'without the settings')
    expect(await live.page.locator('main form, main input').count()).toBe(0)
    expect(await live.page.getByRole('button', { name: 'Change the event' }).count()).toBe(0)

    const own = await openForm({ size: 'phone' }, '?way=poap', ownAlone.origin)
    await own.page.getByRole('heading', { name: 'Make an event here' }).waitFor()
    await expectText(own.page, 'when the operator of this server has approved the event')
    await expectText(own.page, 'This server has no access to POAP')
    await expectGood(own, 'own-alone')
  })
})

describe('the live page', () => {
  test('of an unknown event is no error, and leads to the form', async () => {
    for (const name of ['99999', '00000000-0000-4000-8000-000000000000', 'no-event-at-all']) {
      const opened = await openForm({ size: 'phone' }, `?event=${name}`)
      await expectText(opened.page, 'This event is not registered here')
      expect(await opened.page.locator('.notice-error').count()).toBe(0)
      if (name === '99999') await expectGood(opened, 'unknown', ['light'])
      await formOf(opened.page).press('Register an event')
      await expectValue(formOf(opened.page).eventId, name === '99999' ? name : '')
      if (name === '99999') await expectText(opened.page, 'This event is not registered here yet')
      expectRefusals(opened, name.startsWith('no') ? 400 : 404)
    }
  })

  test('says why players cannot get a token, and what they see then', async () => {
    const uuid = await givenRegistered({ codes: 1 })
    const opened = await openForm({ size: 'desktop', theme: 'dark' }, `?event=${uuid}`)
    const { page } = opened
    const change = (...options: readonly (readonly [string, unknown])[]) =>
      stage.server.send('PATCH', `/event/${uuid}`, { editCode: EDIT_CODE, options })
    await expectText(page, 'Open: players can get a token now.')

    await change(['enabled', false])
    await lookAgain(page)
    await expectText(page, 'Paused by the organiser.')
    await expectText(page, 'To continue the event, open the controls with the edit code.')
    await expectText(page, 'The organiser has paused this event. Please try again later.')
    await expectGood(opened, 'live-paused', ['dark'])
    await change(['enabled', true], ['distribution_start_date', '2026-11-21T18:00:00Z'])
    await lookAgain(page)
    await expectText(page, 'Opens on 21 Nov 2026, 18:00.')
    await change(['distribution_start_date', null], ['distribution_end_date', '2026-11-19T18:00:00Z'])
    await lookAgain(page)
    await expectText(page, 'Closed since 19 Nov 2026, 18:00.')
    await change(['distribution_end_date', null], ['requires_presence', false])
    await stage.server.claim(
      uuid,
      await playerAt(stage.outside, 'organise ben', { x: 9, y: 9 }, stage.clock.nowMs()),
    )
    await lookAgain(page)
    await expectText(page, 'All tokens have been given out.')
    await expectText(page, 'No more tokens of this event are left. The organiser can ask the issuer')
    await expectText(page, 'Anywhere: players need not stand at a certain place.')

    const expired = await givenRegistered({ codes: 1, expiry_date: '2026-11-01' })
    await page.goto(`${stage.server.origin}/organise?event=${expired}`)
    await expectText(page, 'The event has expired at the issuer.')
  })

  test('of a server that cannot be reached at first', async () => {
    const uuid = await givenRegistered({ codes: 1 })
    const opened = await openForm({ size: 'phone' })
    await opened.page.locator('h1').waitFor()
    await opened.page.context().setOffline(true)
    await opened.page.evaluate(
      `history.pushState(null, '', '?event=${uuid}'); dispatchEvent(new Event('popstate'))`,
    )
    await expectText(opened.page, 'You are offline; please check your connection')
    await opened.page.context().setOffline(false)
    await expectText(opened.page, 'Open: players can get a token now.')
    expectRefusals(opened, 'ERR_INTERNET_DISCONNECTED')
  })
})

describe('the form', () => {
  test('lets the reader go back, by its steps and by the browser, and keeps what was typed', async () => {
    const id = await givenEvent({ codes: 1 })
    const opened = await openForm({ size: 'desktop' })
    const { page } = opened
    const form = formOf(page)
    await fill(page, id)
    await page.getByRole('button', { name: 'Event', exact: true }).click()
    await expectStep(page, 1, 'Which event is it?')
    await expectValue(form.eventId, String(id))
    await expectValue(form.editCode, EDIT_CODE)
    await page.goBack()
    await expectStep(page, 3, 'Register the event')
    await page.goBack()
    await expectStep(page, 2, 'Where can players get the token?')
    await expectValue(form.places, PLACES)
    expect(await page.getByRole('button', { name: 'Tokens' }).isDisabled()).toBe(true)
    expectRefusals(opened, 404)
  })

  test('lists the events of this browser before the choice, without codes; each can be removed', async () => {
    const { origin } = await withBothWays()
    const opened = await openForm({ size: 'phone' }, '?way=poap', origin)
    const { page } = opened
    const names = ['Harbour Lights', 'Lantern Walk']
    for (const name of names) {
      await page.goto(`${origin}/organise?way=poap`)
      await fillAndRegister(page, await givenEvent({ codes: 1, name }))
      await formOf(page).press('See the event')
      await page.getByRole('heading', { name }).waitFor()
    }
    await page.goto(`${origin}/organise`)
    const list = page.locator('.my-events li')
    await expect
      .poll(() => list.locator('a').allTextContents(), SOON)
      .toEqual(['Lantern Walk', 'Harbour Lights'])
    await expectGood(opened, 'my-events')
    expect(await page.evaluate(`localStorage.getItem('landpass.events')`)).not.toContain(EDIT_CODE)

    await page.getByRole('button', { name: /^Remove .*Lantern Walk.* from this list$/ }).click()
    await expect.poll(() => list.locator('a').allTextContents(), SOON).toEqual(['Harbour Lights'])
    await list.getByRole('link').click()
    await page.getByRole('heading', { name: 'Harbour Lights' }).waitFor()
    expect(page.url()).toContain('/organise?event=')

    await page.evaluate(`localStorage.setItem('landpass.events', '{"broken')`)
    await page.goto(`${origin}/organise`)
    await page.getByRole('heading', { name: 'Who makes the tokens?' }).waitFor()
    expect(await list.count()).toBe(0)
    expectRefusals(opened, 404)
  })

  test('shows the places of each event alone, and again what was typed for them, whatever was typed for others', async () => {
    const { origin } = await withBothWays()
    const ours = await givenEvent({ codes: 1, name: 'Orchard Feast' })
    await stage.server.register(ours, EDIT_CODE, '9,9')
    const opened = await openForm({ size: 'phone' }, '?way=poap', origin)
    const { page } = opened
    const form = formOf(page)
    await fillAndRegister(page, await givenEvent({ codes: 1, name: 'Lantern Walk' }))
    await form.press('See the event')
    await page.getByRole('heading', { name: 'Lantern Walk' }).waitFor()

    await page.evaluate(HOLD_BACK)
    await page.goBack()
    await expectValue(form.eventId, '')
    await form.eventId.fill(String(ours))
    await form.editCode.fill(EDIT_CODE)
    await page.evaluate('letGo()')
    expect(await form.editCode.inputValue()).toBe(EDIT_CODE)
    await form.press('Change the places')
    await expectValue(form.places, '9,9')
    await form.places.fill('8,8')
    await form.press('Back')
    await form.eventId.fill(String(await givenEvent({ codes: 1 })))
    await form.press('Continue')
    await expectValue(form.places, '')

    await form.places.fill('7,7')
    await form.press('Choose the other way')
    await form.press('Make an event here')
    await expectValue(form.places, '')
    await form.places.fill('6,6')
    await form.press('Choose the other way')
    await form.press('I have an event at POAP')
    await expectValue(form.places, '7,7')
    await form.press('Choose the other way')
    await form.press('Make an event here')
    await expectValue(form.places, '6,6')
    expectRefusals(opened, 404)
  })

  test('has at most six inputs, each with its label, and speaks the reader’s language', async () => {
    const { page } = await openForm({ size: 'phone', locale: 'fr-FR' })
    await page.getByLabel('Code de modification').waitFor()
    await page.evaluate(`document.documentElement.style.fontSize = '200%'`)
    await expectNoOverflow(page)
    await page.evaluate(`document.documentElement.style.fontSize = ''`)
    await page.setViewportSize({ width: 320, height: 640 })
    await expectNoOverflow(page)
    await page.getByRole('combobox', { name: 'Langue' }).selectOption('es')
    await page.getByLabel('Código de edición').waitFor()
    expect(await page.locator('input, textarea, select').count()).toBeLessThanOrEqual(6)
  })
})

test('the edit code is only in the body of a request: not in address, storage, page or log', async () => {
  // A server of attendance alone, so the form has the coordinates as text; it logs all it can.
  const code = 'orchard-feast-2791'
  const id = await givenEvent({ codes: 1, edit_code: code })
  const place = { DATABASE_URL: await freshDatabaseUrl() }
  const env: Env = { ...(stage.outside.env as Env), ...place, LOG_LEVEL: 'trace' }
  const alone = await serve(env, ['--only', 'attendance'])
  const documents = await (await fetch(`${alone.origin}/docs/`)).text()
  expect(documents, 'its documents link to no map').toContain('data-interfaces="attendance"')
  const opened = await openForm({ size: 'phone', keepsPages: true }, '?way=poap', alone.origin)
  const { page } = opened
  const form = formOf(page)
  const outputs: Output[] = []
  const sent: string[] = []
  page.on('request', (request) => {
    outputs.push({
      where: `${request.method()} and its headers`,
      text: request.url() + JSON.stringify(request.headers()),
    })
    if (request.postData()?.includes(code)) sent.push(`${request.method()} ${request.url()}`)
  })
  page.on('console', (message) => outputs.push({ where: 'the console', text: message.text() }))
  const listen = async (where: string) =>
    outputs.push({ where, text: await page.evaluate<string>(EVERYTHING_KEPT) })

  await form.eventId.fill(String(id))
  await form.editCode.fill(code)
  expect(await page.evaluate(HOW_IT_IS_HIDDEN)).toBe('text off disc')
  await page.getByRole('button', { name: 'Show' }).click()
  expect(await page.evaluate(HOW_IT_IS_HIDDEN)).toBe('text off none')
  await listen('step 1, shown')
  expect(await page.locator('[name]:not(meta)').count()).toBe(0)
  await form.press('Continue')
  expect(await page.locator('.map-surface').count()).toBe(0)
  await form.places.fill(PLACES)
  await form.press('Continue')
  await listen('step 3')
  await form.press('Register the event')
  await expectStep(page, 4, 'Load the tokens')
  await listen('step 4')
  await form.press('Load the tokens')
  await expectText(page, 'New tokens loaded: 1.')
  await listen('the live page')
  await form.press('Change the event')
  await expectValue(form.editCode, '')

  await form.editCode.fill(code)
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))`)
  await expectValue(form.editCode, '')
  await listen('the page that was left')
  outputs.push({ where: 'the log', text: alone.stdout() + alone.stderr() })

  expect(alone.stdout()).toContain('"POST","url":"/addcodes/:event"')
  expect(sent).toEqual([
    `POST ${alone.origin}/event/${id}/check`,
    `POST ${alone.origin}/event/${id}`,
    `POST ${alone.origin}/addcodes/${id}`,
  ])
  expect(findSecrets(outputs, new Map([[code, 'the edit code']]))).toEqual([])
  expectRefusals(opened, 404)
})

/** No password manager offers to save a field that never was one of type `password`. */
const HOW_IT_IS_HIDDEN = `(() => {
  const input = document.querySelector('#edit-code')
  return [input.type, input.autocomplete, getComputedStyle(input).webkitTextSecurity].join(' ')
})()`

/** Address, history, markup, storages and caches of a page, as text. */
const EVERYTHING_KEPT = `(async () => {
  const cached = []
  for (const name of await caches.keys()) {
    const cache = await caches.open(name)
    for (const request of await cache.keys()) cached.push(request.url, await (await cache.match(request)).text())
  }
  return [
    location.href,
    document.title,
    JSON.stringify(history.state),
    document.documentElement.outerHTML,
    document.cookie,
    JSON.stringify({ ...localStorage }),
    JSON.stringify({ ...sessionStorage }),
    JSON.stringify(await indexedDB.databases()),
    JSON.stringify(performance.getEntries()),
    ...cached,
  ].join(' ')
})()`

/** Makes an event at the issuer. @returns its number */
async function givenEvent(plan: Partial<EventPlan>): Promise<number> {
  lastId += 1
  await stage.outside.putEvent(lastId, { edit_code: EDIT_CODE, codes: 1, ...plan })
  return lastId
}

/** An event with its codes on our server. @returns the uuid */
async function givenRegistered(plan: Partial<EventPlan>): Promise<string> {
  return stage.server.register(await givenEvent(plan), EDIT_CODE, PLACES)
}

async function moreCodes(id: number, count: number): Promise<void> {
  const body = JSON.stringify({ count })
  const headers = { 'content-type': 'application/json' }
  await fetch(`${stage.outside.issuer}/simulator/events/${id}/codes`, { method: 'POST', headers, body })
}

function openForm(options: OpenOptions, query = '', origin = stage.server.origin): Promise<OpenedPage> {
  return open(`${origin}/organise${query}`, options)
}

function formOf(page: Page) {
  return {
    eventId: page.getByLabel('Event id'),
    editCode: page.getByLabel('Edit code'),
    places: page.getByLabel('Coordinates'),
    press: (name: string) => page.locator('main').getByRole('button', { name, exact: true }).click(),
  }
}

/** From now on, what the page does after it has drawn itself waits until it is let go: it comes late on a slow phone. */
const HOLD_BACK = `{
  const start = setTimeout
  const held = []
  window.setTimeout = (act, ms = 0) => (ms < 100 ? held.push(act) && 0 : start(act, ms))
  window.letGo = () => {
    window.setTimeout = start
    for (const act of held) act()
  }
}`

/** Up to the third step. */
async function fill(page: Page, id: number, editCode = EDIT_CODE, places = PLACES): Promise<void> {
  const form = formOf(page)
  await form.eventId.fill(String(id))
  await form.editCode.fill(editCode)
  await form.press('Continue')
  await form.places.fill(places)
  await form.press('Continue')
  await expectStep(page, 3, 'Register the event')
}

async function fillAndRegister(page: Page, id: number): Promise<void> {
  await fill(page, id)
  await formOf(page).press('Register the event')
  await expectStep(page, 4, 'Load the tokens')
}

/** No findings of axe in any of these themes, nothing wider than the screen, and photographs. */
async function expectGood(
  { page, photograph }: OpenedPage,
  name: string,
  themes: readonly ('light' | 'dark')[] = ['light', 'dark'],
): Promise<void> {
  const { width } = page.viewportSize()!
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme })
    await photograph(`organise-${name}-${width < 500 ? 'phone' : 'desktop'}-${theme}`)
    await expectAccessible(page, theme === themes[0] ? undefined : COLOUR_RULES)
  }
  await expectNoOverflow(page)
}

async function expectNoOverflow(page: Page): Promise<void> {
  const { width } = page.viewportSize()!
  const overflow = await page.evaluate<number>(`document.documentElement.scrollWidth - ${width}`)
  expect(overflow, 'wider than the screen').toBeLessThanOrEqual(0)
}

/** The step is shown, its heading has the focus, and says where in the form one is. */
async function expectStep(page: Page, number: number, heading: string): Promise<void> {
  await page.locator('h2:focus', { hasText: `Step ${number} of 4${heading}` }).waitFor()
}

/** A field is marked, described by the sentence, and has the focus. */
async function expectFault(field: Locator, sentence: string): Promise<void> {
  const described = (await field.getAttribute('aria-describedby'))!.split(' ')
  await field
    .page()
    .locator(`#${described.at(-1)}`, { hasText: sentence })
    .waitFor()
  await field
    .page()
    .locator(`#${await field.getAttribute('id')}:focus`)
    .waitFor()
  expect(await field.getAttribute('aria-invalid')).toBe('true')
}

async function expectText(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).first().waitFor()
}

async function expectValue(field: Locator, value: string): Promise<void> {
  await field.waitFor()
  await expect.poll(() => field.inputValue(), SOON).toBe(value)
}

function focusedText(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.textContent')
}

async function countsOf(page: Page): Promise<Record<string, string>> {
  const names = await page.locator('.numbers dt').allTextContents()
  const values = await page.locator('.numbers dd').allTextContents()
  return Object.fromEntries(names.map((name, at) => [name, values[at]!]))
}

function pixelOf({ data, width }: PNG, { x, y }: Spot): readonly number[] {
  const at = 4 * (Math.floor(y) * width + Math.floor(x))
  return [...data.subarray(at, at + 3)]
}

function placesIn(text: string): readonly (readonly [number, number])[] {
  return text.split(';').map((pair) => pair.split(',').map(Number) as [number, number])
}

/** Presses Tab until what has the focus has this name. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let press = 0; press < 40; press++) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate<string>(
      `(({ activeElement: one }) => one.labels?.[0]?.textContent ?? one.ariaLabel ?? one.textContent)(document)`,
    )
    if (focused.trim() === name) return
  }
  expect.fail(`Tab never comes to ${name}`)
}

/** Takes what a browser says of refused requests out of the problems of a page; each of these there must have been. */
function expectRefusals({ problems }: OpenedPage, ...wanted: readonly (number | string)[]): void {
  for (const reason of wanted) {
    const isOfReason = (problem: string) =>
      problem.includes(`status of ${reason}`) || problem.includes(String(reason))
    expect(problems.some(isOfReason), `${reason} in ${problems}`).toBe(true)
    problems.splice(0, problems.length, ...problems.filter((problem) => !isOfReason(problem)))
  }
}
