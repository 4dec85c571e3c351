import { createRequire } from 'node:module'
import { join } from 'node:path'
import { openRuntime, type Scene, type SceneClient } from './scene.ts'

/** The part of the SDK's engine that a renderer needs, which an installed SDK has. */
interface Ecs {
  Engine(): {
    readonly PlayerEntity: number
    addTransport(transport: object): void
    seal(): void
    update(passedS: number): Promise<void>
    getEntitiesWith<Value>(component: Component<Value>): Iterable<[entity: number, value: Value]>
  }
}
interface Component<Value> {
  create(entity: number, value: Value): void
  /** Of a component with several values for an entity. */
  addValue(entity: number, value: Value): void
}
type Define<Value> = (engine: ReturnType<Ecs['Engine']>) => Component<Value>
interface Components {
  readonly UiText: Define<{ readonly value: string }>
  readonly UiBackground: Define<{
    readonly texture?: { readonly tex?: { readonly texture?: { readonly src: string } } }
  }>
  readonly PointerEvents: Define<unknown>
  readonly PointerEventsResult: Define<object>
  readonly PlayerIdentityData: Define<object>
  readonly AvatarBase: Define<object>
}

/** A booth waits for half a minute at most: after more frames of a second without a request or a change it does nothing. */
const IDLE_FRAMES = 32
/** What the panel shows until there is a sentence: a slow machine takes many frames for a proof of work. */
const WORKING = /…$/
const POINTER = 0
const DOWN = 1

/**
 * Starts a scene that the SDK's build tool has bundled. The renderer is another engine of the same SDK: it gets the messages
 * that the scene sends, and answers with the player's clicks.
 *
 * @param built the text of the bundle, and the folder with the `node_modules` of the SDK
 * @param options what the code of the scene finds as `boothOptions`
 */
export async function startSdkScene(
  built: { readonly bundle: string; readonly sdk: string },
  client: SceneClient,
  options: object,
): Promise<Scene> {
  const require = createRequire(join(built.sdk, 'package.json'))
  const engine = (require('@dcl/ecs/dist-cjs') as Ecs).Engine()
  const define = require('@dcl/ecs/dist-cjs/components') as Components
  const text = define.UiText(engine)
  const background = define.UiBackground(engine)
  const clickable = define.PointerEvents(engine)
  const clicks = define.PointerEventsResult(engine)
  const identity = define.PlayerIdentityData(engine)
  const avatar = define.AvatarBase(engine)
  let toScene: number[][] = []
  const transport = {
    type: 'scene',
    filter: () => true,
    send: async (messages: Uint8Array | Uint8Array[]) => {
      toScene.push(...[messages].flat().map((message) => [...message]))
    },
    onmessage: (_message: Uint8Array) => {},
  }
  engine.addTransport(transport)
  engine.seal()
  identity.create(engine.PlayerEntity, { address: client.player, isGuest: false })
  avatar.create(engine.PlayerEntity, { name: 'A player', bodyShapeUrn: '' })

  let quietFrames = 0
  let sumS = 0
  let seen = ''
  const watched: SceneClient = {
    player: client.player,
    realm: () => client.realm(),
    signedFetch: (request) => {
      quietFrames = 0
      return client.signedFetch(request)
    },
    askForGrant: async () => client.askForGrant?.() ?? false,
  }
  const sandbox = await openRuntime(watched, options, async (message) => {
    transport.onmessage(Uint8Array.from(message))
    await engine.update(0)
    const messages = toScene
    toScene = []
    return messages
  })
  sandbox.run(`(() => { ${built.bundle}\n })(); undefined`)
  await sandbox.runAsync('module.exports.onStart()')

  const screen = () => {
    const entities = new Set([...engine.getEntitiesWith(clickable)].map(([entity]) => entity))
    const texts = [...engine.getEntitiesWith(text)]
    return {
      labels: texts.flatMap(([entity, { value }]) => (entities.has(entity) ? [] : [value])),
      buttons: texts.flatMap(([entity, { value }]) => (entities.has(entity) ? [value] : [])),
      pictures: [...engine.getEntitiesWith(background)].flatMap(
        ([, { texture }]) => texture?.tex?.texture?.src ?? [],
      ),
    }
  }
  const frame = async (passedS: number) => {
    sumS += passedS
    await sandbox.runAsync(`module.exports.onUpdate(${passedS})`)
    await sandbox.settle()
    const now = JSON.stringify(screen())
    quietFrames = now === seen ? quietFrames + 1 : 0
    seen = now
  }
  let clickCount = 0
  const clickOn = async (entity: number | undefined) => {
    if (entity === undefined) throw new Error('there is nothing to click')
    clickCount++
    clicks.addValue(entity, { button: POINTER, state: DOWN, timestamp: clickCount, tickNumber: clickCount })
    await frame(0) // brings the click to the scene
    await frame(0) // brings what the scene draws then
    quietFrames = 0
  }
  await frame(0)
  return {
    sandbox,
    click: () => {
      const [[booth] = []] = [...engine.getEntitiesWith(clickable)]
      return clickOn(booth)
    },
    press: (button) => {
      const entities = new Set([...engine.getEntitiesWith(clickable)].map(([entity]) => entity))
      const found = [...engine.getEntitiesWith(text)].find(
        ([entity, { value }]) => value === button && entities.has(entity),
      )
      return clickOn(found?.[0])
    },
    frame,
    screen,
    passedS: () => sumS,
    isIdle: () => quietFrames > IDLE_FRAMES && !screen().labels.some((label) => WORKING.test(label)),
  }
}
