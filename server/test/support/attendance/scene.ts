import { openSandbox, type Sandbox } from './quickjs.ts'

/** A request of a scene, which the player's client signs. */
export interface SceneRequest {
  readonly url: string
  readonly init?: {
    readonly method?: string
    readonly headers: Readonly<Record<string, string>>
    readonly body?: string
  }
}

export interface SceneAnswer {
  readonly ok?: boolean
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a client gives to a scene. */
export interface SceneClient {
  signedFetch(request: SceneRequest): Promise<SceneAnswer>
  realm(): { readonly isPreview: boolean; readonly isConnectedSceneRoom?: boolean }
  /** The address of the player. */
  readonly player: string
  /** What the scene itself asks its server for. */
  askForGrant?(): Promise<boolean>
}

/** What a player sees of a scene's user interface. */
export interface Screen {
  readonly labels: readonly string[]
  readonly buttons: readonly string[]
  readonly pictures: readonly string[]
}

/** A scene that runs in QuickJS, with stand-ins for the modules of its runtime. */
export interface Scene {
  readonly sandbox: Sandbox
  click(): Promise<void>
  press(button: string): Promise<void>
  /** Waits for answers, then shows a frame in which `passedS` seconds seem to have passed. */
  frame(passedS: number): Promise<void>
  screen(): Screen
  /** What the frames have taken together, in seconds. */
  passedS(): number
  /** Nothing waits for the next frame. */
  isIdle(): boolean
}

/** The modules of a scene's runtime, in terms of the client outside. */
const SYSTEM = `
const modules = {
  '~system/SignedFetch': { signedFetch: (request) => outside.signedFetch(request) },
  '~system/Runtime': {
    getRealm: async () => ({ realmInfo: await outside.realm() }),
    getExplorerInformation: async () => ({ agent: 'test', platform: 'desktop', configurations: {} }),
  },
  '~system/EngineApi': {
    crdtGetState: async () => ({ hasEntities: false, data: [] }),
    crdtSendToRenderer: async ({ data }) => {
      const answers = await outside.render([...data])
      return { data: answers.map((bytes) => Uint8Array.from(bytes)) }
    },
    sendBatch: async () => ({ events: [] }),
  },
}
globalThis.console = { log() {}, warn() {}, error(...values) { throw new Error(values.map(String).join(' ')) } }
globalThis.require = (name) => {
  if (!(name in modules)) throw new Error('the runtime of a scene has no ' + name)
  return modules[name]
}
globalThis.module = { exports: {} }
globalThis.exports = module.exports
`

/**
 * Starts a bundle of `bundleScene`, whose module exports `main`.
 *
 * @param options what the code of the scene finds as `boothOptions`
 */
export async function startScene(bundle: string, client: SceneClient, options: object = {}): Promise<Scene> {
  const sandbox = await openRuntime(client, options)
  sandbox.run(`globalThis.player = ${JSON.stringify(client.player)}`)
  sandbox.run(`(() => { ${bundle} })(); exports.main()`)
  let sumS = 0
  return {
    sandbox,
    click: async () => void sandbox.run('scene.click()'),
    press: async (button) => void sandbox.run(`scene.press(${JSON.stringify(button)})`),
    frame: async (passedS) => {
      await sandbox.settle()
      sumS += passedS
      sandbox.run(`scene.frame(${passedS})`)
      await sandbox.settle()
    },
    passedS: () => sumS,
    screen: () => sandbox.run('scene.screen()') as Screen,
    isIdle: () => sandbox.run('scene.isIdle()') as boolean,
  }
}

/**
 * An engine with the modules of a scene's runtime.
 *
 * @param render gets what the scene draws, and gives what has happened in the world: messages of the SDK's engine
 */
export async function openRuntime(
  client: SceneClient,
  options: object,
  render?: (message: number[]) => Promise<readonly number[][]>,
): Promise<Sandbox> {
  const sandbox = await openSandbox({
    signedFetch: (request: SceneRequest) => client.signedFetch(request),
    realm: async () => client.realm(),
    askForGrant: async () => client.askForGrant?.() ?? false,
    ...(render && { render }),
  })
  sandbox.run(`globalThis.boothOptions = ${JSON.stringify(options)}; ${SYSTEM}; undefined`)
  return sandbox
}
