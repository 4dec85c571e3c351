import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Vault } from '@landpass/server/attendance/secrets/vault'
import { MINUTE_MS } from '@landpass/server/clock'
import type { Engine } from '@landpass/server/db/engine'
import {
  BOOTH_PATH,
  differenceOf,
  EXAMPLE,
  readPages,
} from '@landpass/server/test/support/attendance/attendance-page'
import {
  type AttendanceServer,
  type OutsideWorld,
  playerAt,
  startAttendance,
  startOutsideWorld,
  TEST_KEY,
} from '@landpass/server/test/support/attendance/attendance-server'
import { bundleScene, checkBoothTypes } from '@landpass/server/test/support/attendance/booth-bundles'
import { startGameBackend } from '@landpass/server/test/support/attendance/game-backend'
import { openSandbox } from '@landpass/server/test/support/attendance/quickjs'
import {
  type Scene,
  type SceneAnswer,
  type SceneClient,
  type SceneRequest,
  startScene,
} from '@landpass/server/test/support/attendance/scene'
import { startSdkScene } from '@landpass/server/test/support/attendance/sdk-scene'
import { freshEngine } from '@landpass/server/test/support/database/engines'
import { type TestClock, testClock } from '@landpass/server/test/support/http/land-server'
import { PREVIEW_REALM, type RequestToSign, type SimulatedPlayer } from '@landpass/simulators/player/player'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'

/** The package of the booth (booth/) in a scene, whose JavaScript runs in QuickJS: clicks, frames and what the screen shows. */

const EDIT_CODE = '123456'
const PLACE = { x: 52, y: -10 }
const PROOF_BITS = 4
const vault = new Vault(Buffer.from(TEST_KEY, 'hex'))
const pages = readPages()
const read = (name: string) => readFileSync(join(BOOTH_PATH, name), 'utf8')

/** Where `npm run check:booth` has the scene of these tests as the SDK's build tool made it, and the folder with that SDK. */
const { LANDPASS_BOOTH_BUNDLE: builtBundle, LANDPASS_BOOTH_SDK: sdk } = process.env
/** What the examples of the pages take from elsewhere. */
const GIVEN = `
declare const context: { readonly from: string }
declare const console: { log(...values: unknown[]): void }
`
/** More frames than any test needs. */
const MOST_FRAMES = 5_000

let outside: OutsideWorld
let bundle: string
beforeAll(async () => {
  const both = await Promise.all([startOutsideWorld(), bundleScene(read('scene-of-tests.ts'))])
  outside = both[0]
  bundle = both[1]
})

test('the types of the booth, its template and the examples fit, and the compiler would find a mistake', async () => {
  const path = 'src/claim.ts'
  const text = read(path).replace('realmInfo?.isPreview', 'realmInfo?.isPrevieuw')
  const examples = [...(pages + read('README.md')).matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
    ([, code = '']) => code,
  )
  const files = Object.fromEntries(examples.map((code, i) => [`template/src/example-${i}.ts`, code]))
  const given = { 'template/src/given.d.ts': GIVEN }

  expect(examples).toHaveLength(4)
  await checkBoothTypes({ ...files, ...given })
  await expect(checkBoothTypes({ [path]: text })).rejects.toThrow('isPrevieuw')
})

test('the template is a whole scene: its files agree with each other, and with the package', () => {
  const { main, scene, allowedMediaHostnames } = JSON.parse(read('template/scene.json'))
  const template = JSON.parse(read('template/package.json'))
  const own = JSON.parse(read('package.json'))
  const root = JSON.parse(readFileSync(new URL('../../server/package.json', import.meta.url), 'utf8'))
  const index = read('template/src/index.ts')
  const [, server = ''] = /server: '(\S+)'/.exec(index) ?? []

  expect(main).toBe('bin/index.js')
  expect(scene.parcels).toContain(scene.base)
  expect(allowedMediaHostnames).toContain(new URL(server).host)
  expect(index).toContain(`event: '${EXAMPLE.uuid}'`)
  expect(template.dependencies).toEqual({ [own.name]: own.version })
  expect(template.devDependencies['@dcl/sdk']).toBe(own.devDependencies['@dcl/sdk'])
  expect(own.dependencies).toEqual({ '@noble/hashes': root.devDependencies['@noble/hashes'] })
})

test('a scene grows by 60 kB at most with the booth, and by 12 kB with the part that talks alone', async () => {
  const sizeOf = async (code: string) => (await bundleScene(code, { minify: true, withoutSdk: true })).length

  expect(await sizeOf(read('template/src/index.ts'))).toBeLessThan(60_000)
  expect(await sizeOf(`export { claim } from '@landpass/booth/claim'`)).toBeLessThan(12_000)
})

test('works for a proof in slices of 8 ms, so that every frame comes in time', async () => {
  const sandbox = await openSandbox({})
  onTestFinished(() => sandbox.close())
  // A clock that goes on by a millisecond with each look at it
  sandbox.run('let nowMs = 0; Date.now = () => nowMs++; globalThis.module = globalThis.exports = {}')
  sandbox.run(
    `(() => { ${await bundleScene(`export { findNonce } from '@landpass/booth/proof-of-work'`)} })()`,
  )
  let frames = 0

  const nonce = await sandbox.runAsync(`exports.findNonce('8.t3f:', 8)`, () => {
    sandbox.run('scene.frame(0.03)')
    frames++
  })

  expect(nonce).toBe('164')
  // 16 hashes between two looks
  expect(frames).toBe(Math.ceil(164 / (8 * 16)))
})

test('the booth is a box, a model or an entity of the scene, and is where the scene wants it', async () => {
  const client = {
    player: '',
    realm: () => ({ isPreview: true }),
    signedFetch: () => Promise.reject(new Error('not asked')),
  }
  const madeWith = async (options: object) => {
    const { sandbox } = await startScene(bundle, client, {
      server: 'https://landpass.example',
      event: '',
      ...options,
    })
    onTestFinished(() => sandbox.close())
    return { made: sandbox.run('scene.made()'), hints: sandbox.run('scene.hints()') }
  }
  const position = { x: 1, y: 2, z: 3 }

  expect(await madeWith({})).toEqual({
    made: [
      { name: 'Transform', entity: 512, value: { position: { x: 8, y: 1, z: 8 } } },
      { name: 'MeshRenderer', entity: 512 },
      { name: 'MeshCollider', entity: 512 },
    ],
    hints: ['Claim your token'],
  })
  expect(await madeWith({ model: 'models/booth.glb', position, language: 'es' })).toEqual({
    made: [
      { name: 'Transform', entity: 512, value: { position } },
      { name: 'GltfContainer', entity: 512, value: { src: 'models/booth.glb' } },
    ],
    hints: ['Pida su token'],
  })
  expect(await madeWith({ entity: 600 })).toEqual({ made: [], hints: ['Claim your token'] })
  await expect(madeWith({ server: 'landpass.example' })).rejects.toThrow(
    'server must begin with http:// or https://.',
  )
})

test('an error of the client is a sentence for the player, who can click again', async () => {
  let clicks = 0
  const client: SceneClient = {
    player: '',
    realm: () => {
      clicks++
      throw new Error('this client is broken')
    },
    signedFetch: () => Promise.reject(new Error('not asked')),
  }
  const scene = await startScene(bundle, client, { server: 'https://landpass.example', event: '' })
  onTestFinished(() => scene.sandbox.close())

  for (const _ of ['first', 'second']) {
    await scene.click()
    await scene.sandbox.settle()
    expect(scene.screen().labels).toEqual([expect.stringMatching(/^That has not worked yet/)])
  }
  expect(clicks).toBe(2)
})

/** What the desktop client makes of an answer: of a failure, a scene gets the sentence alone. */
const CLIENTS = {
  'a client that hands over the answer as it is': (body: string) => body,
  'a client that hands over the sentence of a failure alone': (body: string) =>
    (JSON.parse(body) as { error?: string }).error ?? body,
}

/** Two of the three clients of the world never see the body that they sign for. */
const BODY_IS_NOT_SIGNED: readonly (readonly [string, Pick<RequestToSign, 'metadata' | 'form'>])[] = [
  [
    'mobile',
    {
      form: 'newer',
      metadata: {
        origin: 'https://decentraland.org',
        realm: { hostname: 'realm-provider-ea.decentraland.org', protocol: 'v3', serverName: 'main' },
        hashPayload: undefined,
      },
    },
  ],
  [
    'browser',
    {
      form: 'newer',
      metadata: {
        origin: 'https://realm-provider-ea.decentraland.org/main',
        realm: {
          hostname: 'https://realm-provider-ea.decentraland.org/main',
          protocol: 'v3',
          serverName: 'main',
        },
        hashPayload: undefined,
      },
    },
  ],
]

for (const [name, handOver] of Object.entries(CLIENTS)) {
  describe(`the booth in ${name}`, () => {
    /** Without them the booth does not know whether its captcha takes another answer, and asks for a new one. */
    const handsOverTries = handOver('{"error":"no"}') !== 'no'
    const open = freshEngine('postgres')
    let engine: Engine
    let clock: TestClock
    let server: AttendanceServer
    let hard: AttendanceServer
    let eventId = 0

    beforeAll(async () => {
      clock = testClock()
      engine = await open()
      server = await startAttendance(engine, clock, outside)
      hard = await startAttendance(engine, clock, outside, { CLAIM_PROOF_OF_WORK_BITS: String(PROOF_BITS) })
      eventId = 60_000 + 100 * Object.keys(CLIENTS).indexOf(name)
      return async () => {
        await server.close()
        await hard.close()
      }
    })

    async function newEvent(...options: unknown[][]): Promise<string> {
      eventId += 1
      await outside.putEvent(eventId, { edit_code: EDIT_CODE, codes: 3 })
      const uuid = await server.register(eventId, EDIT_CODE, '52,-10')
      if (options.length > 0) {
        await server.send('PATCH', `/event/${eventId}`, { editCode: EDIT_CODE, options })
      }
      return uuid
    }
    const player = (who: string, place = PLACE) => playerAt(outside, `${name} ${who}`, place, clock.nowMs())

    /** A click of the player, and what follows by itself: what was shown, and whether the booth is locked then. */
    async function click(who: SimulatedPlayer, event: string, changes: Partial<Click> = {}) {
      const {
        at = server,
        realm = { isPreview: false, isConnectedSceneRoom: true },
        read = readCaptcha,
        pass = (send) => send(),
        askForGrant,
        ...given
      } = changes
      const sent: { readonly path: string; readonly atS: number }[] = []
      let isOver = false
      const client: SceneClient = {
        realm: () => (isOver ? { isPreview: true } : realm),
        player: who.address,
        signedFetch: async (request) => {
          sent.push({ path: new URL(request.url).pathname, atS: scene.passedS() })
          if (isOver) throw new Error('the second click only shows whether the booth is locked')
          return pass(() => signedFetch(who, request, changes), request.url)
        },
        ...(askForGrant && { askForGrant }),
      }
      const { rehearse, language } = given
      const options = { server: at.origin, event, rehearse, language, hasServer: askForGrant !== undefined }
      const scene: Scene =
        builtBundle && sdk
          ? await startSdkScene({ bundle: readFileSync(builtBundle, 'utf8'), sdk }, client, options)
          : await startScene(bundle, client, options)
      onTestFinished(() => scene.sandbox.close())
      await scene.click()
      const { shown, images } = await play(scene, (time) => read(who, time))

      const requests = [...sent]
      const seconds = (requests.at(-1)?.atS ?? 0) - (requests[0]?.atS ?? 0)
      const { pictures } = scene.screen()
      isOver = true
      await scene.click()
      await scene.sandbox.settle()
      const isDone = sent.length === requests.length
      return { isDone, shown, images, seconds, pictures, requests }
    }

    interface Click {
      at: AttendanceServer
      realm: ReturnType<SceneClient['realm']>
      metadata: RequestToSign['metadata']
      form: RequestToSign['form']
      read(who: SimulatedPlayer, time: number): Promise<string | undefined>
      /** What lies between the scene and the server. */
      pass(send: () => Promise<SceneAnswer>, url: string): Promise<SceneAnswer>
      askForGrant(): Promise<boolean>
      rehearse: string
      language: string
    }

    let tick = 0
    async function signedFetch(
      who: SimulatedPlayer,
      { url, init }: SceneRequest,
      { metadata, form }: Partial<Click> = {},
    ) {
      tick += 1
      const { method = 'GET', headers = {}, body = '' } = init ?? {}
      const signature = who.sign({
        method,
        path: new URL(url).pathname,
        body,
        atMs: clock.nowMs() + tick,
        metadata,
        form,
      })
      const answer = await fetch(url, {
        method,
        headers: { ...headers, ...signature },
        ...(body === '' ? {} : { body }),
      })
      const text = await answer.text()
      return {
        ok: answer.ok,
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: answer.ok ? text : handOver(text),
      }
    }

    async function readCaptcha({ address }: SimulatedPlayer): Promise<string> {
      const query = engine.db
        .selectFrom('captcha')
        .select(['encrypted', 'uuid'])
        .where('address', '=', address)
      const { encrypted, uuid } = await query.executeTakeFirstOrThrow()
      return vault.decrypt('captcha', encrypted, uuid).split(' ')[0]!
    }

    test('a click brings the token, and the next one the news that it is there', async () => {
      const event = await newEvent()
      const ann = await player('ann')

      const first = await click(ann, event)
      const second = await click(ann, event)

      expect(first.isDone).toBe(true)
      expect(first.shown).toEqual([expect.stringMatching(/issuer is making your token/)])
      expect(second).toMatchObject({ isDone: true, shown: ['You have a token of this event already.'] })
      expect(await outside.mintsOf(eventId)).toMatchObject([{ address: ann.address }])
    })

    test('shows a captcha where the event asks for one, and lets the player look at it again after a mistake', async () => {
      const event = await newEvent(['requires_captcha', true])
      const ben = await player('ben')

      const closed = await click(ben, event, { read: async () => undefined })
      const { isDone, shown, images } = await click(ben, event, {
        read: async (who, time) => (time === 1 ? 'wrong' : readCaptcha(who)),
      })

      expect(closed).toMatchObject({
        isDone: false,
        shown: [expect.stringMatching(/^You have not typed/)],
      })
      expect(isDone).toBe(true)
      expect(shown).toEqual([
        expect.stringMatching(/not what the image shows/),
        expect.stringMatching(/issuer is making your token/),
      ])
      expect(images).toHaveLength(2)
      expect(new Set(images).size).toBe(handsOverTries ? 1 : 2)
      expect(images[0]).toMatch(new RegExp(`^${server.origin}/captcha/[\\da-f-]{36}$`))
    })

    test('shows the picture of the token, also to a player who has it, and speaks the language of the booth', async () => {
      const event = await newEvent()
      const { image_url: picture } = (await server.get(`/event/${event}`)).body.data as { image_url: string }
      const lou = await player('lou')

      const first = await click(lou, event, { language: 'fr' })
      const second = await click(lou, event, { language: 'ko' })

      expect([first.pictures, second.pictures]).toEqual([[picture], [picture]])
      expect(first.shown).toEqual([expect.stringMatching(/^Votre jeton est en préparation/)])
      expect(second.shown).toEqual(['이 행사의 토큰을 이미 가지고 있습니다.'])
    })

    test('asks for one captcha only, also while the issuer does not answer', async () => {
      const event = await newEvent(['requires_captcha', true])
      await outside.issuerSettings({ error_rate: 1 })
      const { isDone, shown, images } = await click(await player('sam'), event)
      await outside.issuerSettings({ error_rate: 0 })

      expect({ isDone, shown }).toEqual({ isDone: true, shown: [expect.stringContaining('reserved')] })
      expect(images).toHaveLength(1)
    })

    test('finds out what is wrong by the sentence, where a client hands over no headers', async () => {
      const event = await newEvent(['requires_captcha', true])

      const { isDone, shown, images } = await click(await player('tom'), event, {
        pass: async (send) => ({ ...(await send()), headers: {} }),
        read: async (who, time) => (time === 1 ? 'wrong' : readCaptcha(who)),
      })

      expect(isDone).toBe(true)
      expect(shown[0]).toMatch(/not what the image shows/)
      expect(images).toHaveLength(2)
    })

    test('does the work where the server asks for one', async () => {
      const event = await newEvent()

      const { isDone, images } = await click(await player('cleo'), event, { at: hard })

      expect({ isDone, images }).toEqual({ isDone: true, images: [] })
      expect(await outside.mintsOf(eventId)).toHaveLength(1)
    })

    for (const [client, signs] of BODY_IS_NOT_SIGNED) {
      test(`brings the token to a player whose ${client} client does not sign the body: with a captcha, and with work`, async () => {
        const withCaptcha = await newEvent(['requires_captcha', true])
        const ann = await player(`${client} ann`)

        const solved = await click(ann, withCaptcha, {
          ...signs,
          read: async (who, time) => (time === 1 ? 'wrong' : readCaptcha(who)),
        })
        const again = await click(ann, withCaptcha, signs)
        const mints = await outside.mintsOf(eventId)
        const worked = await click(ann, await newEvent(), { ...signs, at: hard })

        expect(solved).toMatchObject({
          isDone: true,
          shown: [expect.stringMatching(/not what the image shows/), expect.stringMatching(/is making your/)],
        })
        expect(solved.images).toHaveLength(2)
        // Who has the token is told so, and solves nothing for that
        expect(again).toMatchObject({ isDone: true, images: [] })
        expect(again.shown).toEqual(['You have a token of this event already.'])
        expect(mints).toMatchObject([{ address: ann.address }])
        expect(worked).toMatchObject({ isDone: true, images: [] })
        expect(await outside.mintsOf(eventId)).toHaveLength(1)
      })
    }

    test('rehearses a chosen refusal after the captcha, where the client does not sign the body', async () => {
      const [, signs] = BODY_IS_NOT_SIGNED[0]!
      const until = new Date(clock.nowMs() + MINUTE_MS).toISOString()
      const event = await newEvent(['requires_captcha', true], ['rehearsal_until', until])
      const metadata = { ...signs.metadata, realm: { ...PREVIEW_REALM, serverName: 'preview' } }

      const { isDone, shown, images } = await click(await player('uma'), event, {
        ...signs,
        realm: { isPreview: true },
        metadata,
        rehearse: 'not_at_event',
      })

      expect({ isDone, shown }).toEqual({
        isDone: false,
        shown: [expect.stringMatching(/^Rehearsal: You are not at the event/)],
      })
      expect(images).toHaveLength(1)
    })

    test('refuses a body that is not the signed one, and counts no try', async () => {
      const event = await newEvent(['requires_captcha', true])
      const vic = await player('vic')

      const { isDone, shown } = await click(vic, event, { metadata: { hashPayload: '0'.repeat(64) } })

      expect({ isDone, shown }).toEqual({
        isDone: false,
        shown: ['The body is not the one that was signed.'],
      })
    })

    test('asks for an answer once, also if it comes too late, and where its answer is lost', async () => {
      const event = await newEvent(['requires_captcha', true])
      const loseClaim = () => {
        let claims = 0
        return async (send: () => Promise<SceneAnswer>, url: string) => {
          const answer = await send()
          if (url.includes('/claim/') && ++claims === 2) throw new Error('lost')
          return answer
        }
      }

      const late = await click(await player('wes'), event, {
        read: async (who) => {
          const typed = await readCaptcha(who)
          clock.set(clock.nowMs() + 2 * MINUTE_MS)
          return typed
        },
      })
      const lost = await click(await player('xia'), event, { pass: loseClaim() })

      expect(late).toMatchObject({ isDone: false, images: [expect.any(String)] })
      expect(late.shown).toEqual([expect.stringMatching(/^No captcha is waiting .* Click the booth again/)])
      expect(lost).toMatchObject({ isDone: true, images: [expect.any(String)] })
      expect(lost.shown.at(-1)).toBe('You have a token of this event already.')
    })

    test('ends with a sentence, whatever a proxy answers in place of the server, and after wrong answers alone', async () => {
      const event = await newEvent(['requires_captcha', true])
      const answering = (status: number, body: string) => ({
        pass: async () => ({ ok: status === 200, status, headers: {}, body }),
      })

      const ends = []
      for (const [status, body] of [
        [200, ''],
        [200, '<html>Please sign in to this network</html>'],
        [403, ''],
        [502, '<html>Bad gateway</html>'],
        [404, '{"error":"The proof of work is missing."}'],
      ] as const) {
        ends.push(await click(await player('yan'), event, answering(status, body)))
      }
      const wrong = await click(await player('zoe'), event, { read: async () => 'wrong' })

      for (const { isDone, shown } of ends) {
        expect(isDone).toBe(false)
        expect(shown.at(-1)).toMatch(/^[A-Z][^<]+\.$/)
      }
      expect(wrong).toMatchObject({ isDone: false })
      expect(wrong.shown.at(-1)).toMatch(/^That has not worked yet/)
      // What was typed at the last image was sent as well; three answers count for each
      expect(wrong.images).toHaveLength(11)
      expect(new Set(wrong.images).size).toBe(handsOverTries ? 4 : 11)
    })

    test('tries again where the player has just arrived, and gives up then', async () => {
      const event = await newEvent()

      const { isDone, shown, requests } = await click(await player('dora', { x: 0, y: 0 }), event)

      expect(isDone).toBe(false)
      expect(requests).toHaveLength(4)
      expect(shown).toEqual([expect.stringContaining('stand on 52,-10')])

      // With a proof that the first answer has used up. The SDK's scene works for it in more frames than the test looks at
      if (sdk) return
      const worked = await click(await player('eve', { x: 0, y: 0 }), await newEvent(), { at: hard })
      expect(worked.shown).toEqual([expect.stringContaining('stand on 52,-10')])
    })

    test('waits while the presence services or the issuer do not answer', async () => {
      const event = await newEvent()
      await outside.presenceSettings({ down: true })
      const lost = await click(await player('eve'), event)
      await outside.presenceSettings({ down: false })
      clock.set(clock.nowMs() + MINUTE_MS) // a provider that failed is left alone for some seconds
      await outside.issuerSettings({ error_rate: 1 })
      const pending = await click(await player('fay'), event)
      await outside.issuerSettings({ error_rate: 0 })

      expect(lost.isDone).toBe(false)
      expect(lost.shown[0]).toContain('Your position in the world cannot be checked now')
      expect(pending.isDone).toBe(true)
      expect(pending.shown[0]).toContain('Your token is reserved')
    })

    test('waits as long as the server says for the issuer, and at most half a minute', async () => {
      const event = await newEvent()
      await outside.issuerSettings({ error_rate: 1 })
      const waitFor = (seconds: string) => ({
        pass: async (send: () => Promise<SceneAnswer>) => {
          const answer = await send()
          return { ...answer, headers: { ...answer.headers, 'retry-after': seconds } }
        },
      })
      const short = await click(await player('ivy'), event, waitFor('2'))
      const long = await click(await player('jan'), event, waitFor('3600'))
      await outside.issuerSettings({ error_rate: 0 })

      expect([short.isDone, long.isDone]).toEqual([true, true])
      // Twelve requests
      expect(short.seconds).toBe(11 * 2)
      expect(long.seconds).toBe(11 * 30)
    })

    test('says that a player is not connected to the scene yet', async () => {
      const realm = { isPreview: false, isConnectedSceneRoom: false }

      const { isDone, shown } = await click(await player('kay'), await newEvent(), { realm })

      expect({ isDone, shown }).toEqual({
        isDone: false,
        shown: [expect.stringContaining('not connected to the scene yet')],
      })
    })

    const PREVIEW = { realm: { isPreview: true }, metadata: { realm: PREVIEW_REALM } }

    test('says why nothing comes in a preview without a rehearsal', async () => {
      const { isDone, shown } = await click(await player('gil'), await newEvent(), PREVIEW)

      expect({ isDone, shown }).toEqual({
        isDone: false,
        shown: [expect.stringContaining('Ask the organiser for a rehearsal')],
      })
    })

    test('shows a rehearsal as one, with its captcha, and with each refusal that is chosen', async () => {
      const until = new Date(clock.nowMs() + MINUTE_MS).toISOString()
      const event = await newEvent(['requires_captcha', true], ['rehearsal_until', until])
      const mia = await player('mia', { x: 0, y: 0 })

      const absent = await click(mia, event, { ...PREVIEW, rehearse: 'not_at_event' })
      const first = await click(mia, event, PREVIEW)
      const second = await click(mia, event, PREVIEW)

      expect(absent).toMatchObject({ isDone: false, images: [expect.any(String)] })
      expect(absent.shown).toEqual([
        expect.stringMatching(/^Rehearsal: You are not at the event: stand on 52,-10/),
      ])
      expect(first).toMatchObject({ isDone: true, images: [expect.any(String)] })
      expect(first.shown).toEqual([
        expect.stringMatching(/^Rehearsal: At the event this claim brings a token/),
      ])
      expect(second).toMatchObject({
        isDone: true,
        shown: ['Rehearsal: You have a token of this event already.'],
      })
      expect(await outside.mintsOf(eventId)).toEqual([])
    })

    test('rehearses the work where the server asks for one', async () => {
      const until = new Date(clock.nowMs() + MINUTE_MS).toISOString()
      const event = await newEvent(['rehearsal_until', until])

      const { isDone, shown } = await click(await player('ned'), event, { ...PREVIEW, at: hard })

      expect({ isDone, shown }).toEqual({ isDone: true, shown: [expect.stringMatching(/^Rehearsal: /)] })
    })

    /** An event that needs a grant. */
    const eventWithGrants = () => newEvent(['requires_grant', true])

    /** The server of the scene, and how the scene asks it. */
    async function startBackend(event: string) {
      const { origin, winners, close } = await startGameBackend({ server, event, editCode: EDIT_CODE, clock })
      onTestFinished(async () => void (await close()))
      const asked: string[] = []
      const askFor = (who: SimulatedPlayer) => async () => {
        asked.push(who.address)
        const request = { url: `${origin}/grant`, init: { method: 'POST', headers: {} } }
        return (await signedFetch(who, request)).status === 200
      }
      return { winners, asked, askFor }
    }

    test('asks the server of the scene for a grant where the event needs one, and claims again', async () => {
      const event = await eventWithGrants()
      const { winners, asked, askFor } = await startBackend(event)
      const ola = await player('ola')
      winners.add(ola.address)

      const { isDone, shown } = await click(ola, event, { askForGrant: askFor(ola) })

      expect(isDone).toBe(true)
      expect(shown).toEqual([expect.stringMatching(/issuer is making your token/)])
      expect(asked).toEqual([ola.address])
      expect(await outside.mintsOf(eventId)).toMatchObject([{ address: ola.address }])
    })

    test('shows that a grant is missing where there is no server of the scene, it says no, or its grant does not count', async () => {
      const other = await startBackend(await eventWithGrants())
      const event = await eventWithGrants()
      const { asked, askFor } = await startBackend(event)
      const [pia, quin, rob] = [await player('pia'), await player('quin'), await player('rob')]
      other.winners.add(rob.address)

      const without = await click(pia, event)
      const no = await click(quin, event, { askForGrant: askFor(quin) })
      const useless = await click(rob, event, { askForGrant: other.askFor(rob) })

      const sentence = expect.stringMatching(/^You have not earned this token yet/)
      for (const { isDone, shown } of [without, no, useless])
        expect({ isDone, shown }).toEqual({ isDone: false, shown: [sentence] })
      expect([asked, other.asked]).toEqual([[quin.address], [rob.address]])
      expect(await outside.mintsOf(eventId)).toEqual([])
    })

    test('what a server with proof of work answers to POST /captcha is as the page says', async () => {
      const { captcha } = await askForCaptcha(await player('hal'))
      const [, shown = ''] = /^```json\n(\{ "proof_of_work".*)\n```$/m.exec(pages) ?? []

      const task = { ...(JSON.parse(shown) as { proof_of_work: object }).proof_of_work }
      const real = { ...captcha.proof_of_work, bits: 16, challenge: 'uuid' }
      expect(differenceOf(real, { ...task, challenge: 'uuid' })).toBeUndefined()
      expect(captcha.proof_of_work).toMatchObject({ bits: PROOF_BITS, challenge: captcha.uuid })
    })

    async function askForCaptcha(who: SimulatedPlayer) {
      const headers = who.sign({ method: 'POST', path: '/captcha', atMs: clock.nowMs() })
      const { body } = await hard.send('POST', '/captcha', undefined, headers)
      return { captcha: body.data as { uuid: string; proof_of_work: { bits: number; challenge: string } } }
    }
  })
}

/** What the panel shows besides sentences: that it works, what was typed, and before that a question. */
const NO_SENTENCE = /^(?:.*…|[A-Z\d]*|What do you read\?)$/

/** Shows frames, a second each, and gives the captchas their answers, until nothing waits any more. */
async function play(scene: Scene, read: (time: number) => Promise<string | undefined>) {
  const shown: string[] = []
  const images: string[] = []
  for (let seconds = 0; seconds < MOST_FRAMES; seconds++) {
    await scene.sandbox.settle()
    const { labels, pictures } = scene.screen()
    const sentence = labels.find((label) => !NO_SENTENCE.test(label))
    if (sentence !== undefined && sentence !== shown.at(-1)) shown.push(sentence)
    const image = pictures.find((url) => url.includes('/captcha/'))
    if (image !== undefined) {
      images.push(image)
      const typed = await read(images.length)
      for (const key of typed?.toUpperCase() ?? '') await scene.press(key)
      await scene.press(typed === undefined ? 'Close' : 'Send')
    } else if (scene.isIdle()) return { shown, images }
    else await scene.frame(1)
  }
  throw new Error('the booth never ends')
}
