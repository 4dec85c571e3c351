import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MAX_NAMES } from '@landpass/server/api/changes/change-events'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '@landpass/server/clock'
import { SETTING_NAMES } from '@landpass/server/config/settings'
import { retryMs } from '@landpass/server/http/event-streams'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { EventReader } from '@landpass/server/test/support/http/event-reader'
import { type DemoLand, startDemoLand } from '@landpass/server/test/support/land/demo-land'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { publicationRow } from '@landpass/server/test/support/land/land-rows'
import { importWorld } from '@landpass/server/test/support/land/worlds'
import { testBrowser } from '@landpass/server/test/support/pages/browser'
import { eventually } from '@landpass/server/test/support/processes/landpass'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const RADIUS = 10
const PAGE = readFileSync(join(ROOT, 'docs/changes.md'), 'utf8')
const WRITTEN_ORIGIN = 'http://localhost:3000'

const openEngine = freshEngine('postgres')
const openPage = testBrowser()
let land: DemoLand

beforeAll(async () => {
  land = await startDemoLand(await openEngine(), { radius: RADIUS, limits: { maxChangeStreams: 2 } })
  // The database of the page.
  await sql`update land_state set lineage = '5f1c3a9b2d40', revision = 7`.execute(land.engine.db)
  await land.server.app.keeper.refresh()
})
afterAll(() => land.server.close())

const rename = (x: number, y: number, name: string) =>
  ({ kind: 'change-parcel', x, y, to: { name } }) as const

test('the examples of docs/changes.md are what a client receives', async () => {
  const [search, first, second, ...more] = consoleExamples()
  expect(more).toEqual([])
  // Its states are of one process, and its rows of another world
  const searching = await EventReader.open(search!.url)
  await searching.next()
  expect(helloFields(searching.text)).toEqual(helloFields(search!.answer))
  searching.close()
  const reader = await EventReader.open(first!.url)
  await reader.next()
  const expires_at_ms = land.nowMs() + HOUR_MS
  await land.change({
    kind: 'open-publication',
    publication: publicationRow('short', { asset_id: '5,5', expires_at_ms }),
  })
  await reader.next()
  land.clock.set(land.nowMs() + MINUTE_MS)
  await land.change(rename(1, 2, 'one'), { kind: 'change-estate', id: '2', to: { name: 'two' } })
  await reader.next()
  land.clock.set(expires_at_ms)
  await reader.next()

  // A client that was away since the beginning
  const late = await EventReader.open(second!.url)
  await late.next()
  expect(withoutTimes(late.text)).toBe(withoutTimes(second!.answer))
  late.close()

  await importWorld(land.engine.db, await demoSnapshot(2, RADIUS), land.clock)
  await land.server.app.keeper.refresh()
  await reader.next()
  expect(withoutTimes(reader.text)).toBe(withoutTimes(first!.answer))
  reader.close()
})

test('the code of docs/changes.md receives changes in a browser, which reconnects by itself', async () => {
  const { origin } = land.server
  const [, code = ''] = /^```js\n([\s\S]*?)^```$/m.exec(PAGE) ?? []
  const state = (await firstEvent(`${origin}/v2/changes`)) as { state: string }
  await eventually(openStreams, (count) => count === 0, SECOND_MS)
  const opened = await openPage(`${origin}/v1/parcels/0/0`, { size: 'desktop' })
  const { page, problems } = opened
  await page.clock.install()
  await page.evaluate(code)
  const heard = () => page.evaluate<[string, string[]][]>('heard')

  // The server is full, and then is not.
  const others = [
    await EventReader.open(`${origin}/v2/changes`),
    await EventReader.open(`${origin}/v2/changes`),
  ]
  const refused = page.waitForResponse((response) => response.status() === 503)
  await page.evaluate(`
    heard = []
    stop = followChanges('${state.state}', (kind, { parcels }) => heard.push([kind, parcels]))
  `)
  await refused
  for (const other of others) other.close()
  await eventually(openStreams, (count) => count === 0, SECOND_MS)
  // The next stream is asked to reconnect soon.
  for (let n = await opensSoFar(); retryMs(n + 1) > 2_500; n++) await firstEvent(`${origin}/v2/changes`)
  await eventually(openStreams, (count) => count === 0, SECOND_MS)
  await page.clock.runFor(30 * SECOND_MS)
  await land.change(rename(1, 2, 'first'))
  await page.waitForFunction('heard.length === 1')

  // The stream breaks; the browser gets the changes in between when it reconnects.
  land.server.app.server.server.closeAllConnections()
  await land.change(rename(3, 4, 'second'))
  await page.waitForFunction('heard.length === 2')
  expect(await heard()).toEqual([
    ['change', ['1,2']],
    ['change', ['3,4']],
  ])

  await page.evaluate('stop()')
  await eventually(openStreams, (count) => count === 0, SECOND_MS)
  problems.length = 0 // the refusal and the broken connection are part of the test
})

test('docs/changes.md names the metrics, the settings and the bounds', async () => {
  const metrics = (await land.server.get('/metrics')).text
  const named = [...PAGE.matchAll(/^\| `(landpass_\w+)` \|/gm)].map(([, name]) => name)
  const settings = SETTING_NAMES.filter((name) => name.startsWith('CHANGE_STREAMS_'))

  expect(named).toEqual([...metrics.matchAll(/^# TYPE (landpass_change_\w+) /gm)].map(([, name]) => name))
  for (const name of settings) expect(PAGE).toContain(`\`${name}\``)
  expect(PAGE).toContain(MAX_NAMES.toLocaleString('en'))
})

async function openStreams(): Promise<number> {
  return figure('landpass_change_streams')
}

async function opensSoFar(): Promise<number> {
  return figure('landpass_change_streams_opened_total')
}

async function figure(name: string): Promise<number> {
  const { text } = await land.server.get('/metrics')
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

/** The data of the first event of a stream, which is then closed. */
async function firstEvent(url: string): Promise<unknown> {
  const reader = await EventReader.open(url)
  const { data } = await reader.next()
  reader.close()
  return data
}

/** Each `$ curl` of the page, with its answer. */
function consoleExamples(): readonly { url: string; answer: string }[] {
  return [...PAGE.matchAll(/^```console\n\$ curl -N (\S+)\n([\s\S]*?)^```$/gm)].map(
    ([, address = '', answer = '']) => ({
      url: address.replaceAll("'", '').replace(WRITTEN_ORIGIN, land.server.origin),
      answer: `${answer}\n`,
    }),
  )
}

function helloFields(text: string): readonly string[] {
  const [, data = ''] = /^event: hello\ndata: (.*)$/m.exec(text) ?? []
  return Object.keys(JSON.parse(data))
}

/** When to come back is another time for every stream, and heartbeats come with the clock of the machine. */
function withoutTimes(text: string): string {
  return text.replace(/^retry: \d{4}$/m, 'retry: 0000').replaceAll(/^:\n\n/gm, '')
}
