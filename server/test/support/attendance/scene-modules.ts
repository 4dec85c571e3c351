import { execFile } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createContext, runInContext } from 'node:vm'
import { build } from 'rolldown'
import { emptyDir } from '../database/engines.ts'

const require = createRequire(import.meta.url)
const TSC = path.join(path.dirname(require.resolve('typescript/package.json')), 'bin/tsc')
const HASHES = path.dirname(require.resolve('@noble/hashes/sha2.js'))

/** What a client gives to a scene. */
export interface SceneRuntime {
  signedFetch(request: {
    readonly url: string
    readonly init?: {
      readonly method?: string
      readonly headers: Readonly<Record<string, string>>
      readonly body?: string
    }
  }): Promise<{ readonly status: number; readonly headers: Record<string, string>; readonly body: string }>
  readonly realm: { readonly isPreview: boolean; readonly isConnectedSceneRoom?: boolean }
  readonly player: string
  /** Seconds that each frame seems to take. */
  readonly frameS: number
  /** Called in each frame of a system. */
  readonly onFrame?: () => void
}

/** The parts of the SDK that the example uses, by their public declarations (@dcl/sdk 7, @dcl/js-runtime 7). */
const DECLARATIONS = `
declare module '~system/SignedFetch' {
  export interface FlatFetchInit { method?: string | undefined; body?: string | undefined; headers: { [key: string]: string } }
  export interface FlatFetchResponse { ok: boolean; status: number; statusText: string; headers: { [key: string]: string }; body: string }
  export function signedFetch(body: { url: string; init?: FlatFetchInit | undefined }): Promise<FlatFetchResponse>
}
declare module '~system/Runtime' {
  export interface RealmInfo {
    baseUrl: string; realmName: string; networkId: number; commsAdapter: string; isPreview: boolean
    room?: string | undefined; isConnectedSceneRoom?: boolean | undefined
  }
  export function getRealm(body: {}): Promise<{ realmInfo?: RealmInfo | undefined }>
}
declare module '@dcl/sdk/players' {
  export function getPlayer(user?: { userId: string }): { userId: string; name: string; isGuest: boolean } | null
}
declare module '@dcl/sdk/server' {
  export const EnvVar: { get(key: string): Promise<string> }
  export const Storage: {
    readonly player: {
      get<T>(address: string, key: string): Promise<T | null>
      set(address: string, key: string, value: unknown): Promise<boolean>
    }
  }
}
declare function fetch(url: string, init?: { method?: string; headers?: { [key: string]: string }; body?: string }):
  Promise<{ readonly ok: boolean; readonly status: number; json(): Promise<any> }>
declare module '@dcl/sdk/ecs' {
  export type Entity = number & { __entity_type: '' }
  export type SystemFn = (dt: number) => void
  export const engine: {
    addEntity(): Entity
    addSystem(system: SystemFn, priority?: number, name?: string): void
    removeSystem(selector: string | SystemFn): boolean
  }
  export function executeTask(task: () => Promise<unknown>): void
  export const Transform: { create(entity: Entity, value?: { position?: { x: number; y: number; z: number } }): unknown }
  export const MeshRenderer: { setBox(entity: Entity): void }
  export const MeshCollider: { setBox(entity: Entity): void }
  export enum InputAction { IA_POINTER = 0 }
  export const pointerEventsSystem: {
    onPointerDown(data: { entity: Entity; opts?: { button?: InputAction; hoverText?: string } }, cb: () => void): void
  }
}
declare module '@dcl/sdk/react-ecs' {
  namespace ReactEcs {
    namespace JSX { interface Element {} interface ElementChildrenAttribute { children: {} } }
    type Children = JSX.Element | undefined | false | null | (JSX.Element | undefined | false | null)[]
    function createElement(...args: unknown[]): JSX.Element
  }
  export default ReactEcs
  interface Sides { top?: number; left?: number; right?: number; bottom?: number }
  interface UiTransformProps {
    width?: number | \`\${number}%\`; height?: number | \`\${number}%\`; margin?: Partial<Sides>
    flexDirection?: 'row' | 'column'; alignItems?: 'center' | 'flex-start' | 'flex-end'
  }
  interface EntityProps {
    uiTransform?: UiTransformProps
    uiBackground?: { textureMode?: 'nine-slices' | 'center' | 'stretch'; texture?: { src: string } }
    children?: ReactEcs.Children
  }
  export function UiEntity(props: EntityProps): ReactEcs.JSX.Element
  export function Label(props: EntityProps & { value: string; fontSize?: number }): ReactEcs.JSX.Element
  export function Input(props: EntityProps & { placeholder?: string; onSubmit?: (value: string) => void }): ReactEcs.JSX.Element
  export const ReactEcsRenderer: { setUiRenderer(ui: () => ReactEcs.JSX.Element): void }
}
`

const OPTIONS = {
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2020',
  lib: ['es2020'],
  types: [],
  strict: true,
  noUnusedLocals: true,
  skipLibCheck: true,
  jsx: 'react',
  jsxFactory: 'ReactEcs.createElement',
}

/** What a scene imports that is not its own, in terms of the runtime that a test gave. */
const STAND_INS = `
const runtime = () => globalThis.landpassScene
const systems = new Map()
export const engine = {
  addSystem: (system) => systems.set(system, setInterval(() => { runtime().onFrame?.(); system(runtime().frameS) }, 5)),
  removeSystem: (system) => { clearInterval(systems.get(system)); return systems.delete(system) },
}
export const getPlayer = () => ({ userId: runtime().player })
export const getRealm = async () => ({ realmInfo: runtime().realm })
export const signedFetch = (request) => runtime().signedFetch(request)
`

/** Compiles the files of a scene, strictly, and gives the folder with the JavaScript. @throws with the compiler's words */
export async function compileScene(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = emptyDir()
  const outDir = path.join(folder, 'out')
  for (const [name, text] of Object.entries(files)) write(folder, name, text)
  write(folder, 'src/sdk.d.ts', DECLARATIONS)
  const paths = { '@noble/hashes/*.js': [path.join(HASHES, '*.d.ts')] }
  write(
    folder,
    'tsconfig.json',
    JSON.stringify({ compilerOptions: { ...OPTIONS, paths, outDir, rootDir: 'src' }, include: ['src'] }),
  )
  try {
    await promisify(execFile)(process.execPath, [TSC, '-p', folder])
  } catch (error) {
    throw new Error((error as { stdout?: string }).stdout || String(error))
  }
  write(outDir, 'package.json', '{"type":"module"}')
  write(outDir, 'stand-ins.js', STAND_INS)
  return outDir
}

/** A compiled module of a scene, ready to run in the given world. */
export async function loadScene<T>(folder: string, name: string, runtime: SceneRuntime): Promise<T> {
  const file = path.join(folder, name)
  const text = fs
    .readFileSync(file, 'utf8')
    .replace(/'(?:@dcl\/sdk|~system)\/[\w-]+'/g, "'./stand-ins.js'")
    .replace("'@noble/hashes/sha2.js'", `'${pathToFileURL(path.join(HASHES, 'sha2.js')).href}'`)
  fs.writeFileSync(file, text)
  Object.assign(globalThis, { landpassScene: runtime })
  return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as T
}

/**
 * Runs a compiled module of a scene as its own server does: in a context of V8 that has the language and `fetch`, and neither
 * modules of Node.js nor `TextEncoder`.
 *
 * @param sdk stands in for `@dcl/sdk/server`
 * @returns what the module exports
 */
export async function runOnSceneServer<T>(
  folder: string,
  name: string,
  given: { readonly sdk: object; readonly fetch: typeof fetch },
): Promise<T> {
  const file = path.join(folder, 'bundle.js')
  await build({
    input: path.join(folder, name),
    external: ['@dcl/sdk/server'],
    plugins: [
      {
        name: 'noble-hashes',
        resolveId: (id) => (id.startsWith('@noble/hashes/') ? require.resolve(id) : undefined),
      },
    ],
    output: { file, format: 'iife', name: 'scene', globals: { '@dcl/sdk/server': 'sdk' } },
  })
  const context = createContext({ ...given })
  const outside = ['TextEncoder', 'crypto', 'Buffer', 'process', 'require'].filter((word) => word in context)
  if (outside.length > 0) throw new Error(`a server of a scene has no ${outside.join(', ')}`)
  runInContext(`${fs.readFileSync(file, 'utf8')}\nglobalThis.exported = scene`, context)
  return context.exported as T
}

function write(folder: string, name: string, text: string): void {
  const file = path.join(folder, name)
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, text)
}
