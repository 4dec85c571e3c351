import { execFile } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Plugin, rolldown } from 'rolldown'
import { emptyDir } from '../database/engines.ts'
import { BOOTH_PATH } from './attendance-page.ts'

const require = createRequire(import.meta.url)
const TSC = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
const HASHES = dirname(require.resolve('@noble/hashes/sha2.js'))

/** The parts of the SDK that the booth uses, by their public declarations (@dcl/sdk 7, @dcl/js-runtime 7). */
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
  export const GltfContainer: { create(entity: Entity, value: { src: string }): unknown }
  export enum InputAction { IA_POINTER = 0 }
  export const pointerEventsSystem: {
    onPointerDown(data: { entity: Entity; opts?: { button?: InputAction; hoverText?: string } }, cb: () => void): void
  }
}
declare module '@dcl/sdk/react-ecs' {
  namespace ReactEcs {
    namespace JSX { interface Element {} interface ElementChildrenAttribute { children: {} } type ReactNode = Children }
    type Children = JSX.Element | string | undefined | false | null | Children[]
    function createElement(...args: unknown[]): JSX.Element
  }
  export default ReactEcs
  interface Sides { top?: number; left?: number; right?: number; bottom?: number }
  interface UiTransformProps {
    width?: number | \`\${number}%\`; height?: number | \`\${number}%\`; minHeight?: number
    margin?: Partial<Sides> | number; padding?: Partial<Sides> | number
    flexDirection?: 'row' | 'column'; alignItems?: 'center' | 'flex-start' | 'flex-end'; justifyContent?: 'center'
  }
  interface EntityProps {
    key?: string
    uiTransform?: UiTransformProps
    uiBackground?: {
      color?: { r: number; g: number; b: number; a: number }
      textureMode?: 'nine-slices' | 'center' | 'stretch'; texture?: { src: string }
    }
    onMouseDown?: () => void
    children?: ReactEcs.Children
  }
  export function UiEntity(props: EntityProps): ReactEcs.JSX.Element
  export function Label(props: EntityProps & { value: string; fontSize?: number }): ReactEcs.JSX.Element
  export function Button(props: EntityProps & { value: string; fontSize?: number; variant?: 'primary' | 'secondary' }): ReactEcs.JSX.Element
  export const ReactEcsRenderer: {
    addUiRenderer(entity: import('@dcl/sdk/ecs').Entity, ui: () => ReactEcs.JSX.ReactNode): void
  }
}
`

const OPTIONS = {
  extends: join(BOOTH_PATH, 'tsconfig.json'),
  compilerOptions: {
    types: [],
    noEmit: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    paths: {
      '@noble/hashes/*.js': [join(HASHES, '*.d.ts')],
      '@landpass/booth': ['./src/index.ts'],
      '@landpass/booth/*': ['./src/*.ts'],
    },
  },
  include: ['src', 'template/src', 'sdk.d.ts'],
  exclude: ['src/**/*.test.ts'],
}

/**
 * Checks the types of the booth and of its template, strictly, with the declarations of the SDK that it uses.
 *
 * @param files texts of more or of other files, by their paths in the folder `booth`
 * @throws {Error} with the compiler's words
 */
export async function checkBoothTypes(files: Readonly<Record<string, string>> = {}): Promise<void> {
  const folder = emptyDir()
  for (const name of ['src', 'template'])
    cpSync(join(BOOTH_PATH, name), join(folder, name), { recursive: true })
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text)
  writeFileSync(join(folder, 'sdk.d.ts'), DECLARATIONS)
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ ...OPTIONS, compilerOptions: { ...OPTIONS.compilerOptions, rootDir: folder } }),
  )
  try {
    await promisify(execFile)(process.execPath, [TSC, '-p', folder])
  } catch (error) {
    throw new Error((error as { stdout?: string }).stdout || String(error))
  }
}

/**
 * Stands in for the SDK: the engine with its systems, the click on an entity, and a user interface that a test reads and
 * presses. `onUpdate` is a frame, as the runtime of a scene calls it.
 */
const STAND_INS = `
const systems = new Set()
const clicks = new Map()
const panels = new Map()
export const engine = {
  addEntity: () => 512 + clicks.size,
  addSystem: (system) => systems.add(system),
  removeSystem: (system) => systems.delete(system),
}
export const executeTask = (task) => void task().catch((error) => { globalThis.failedTask = String(error) })
export const InputAction = { IA_POINTER: 0 }
const component = (name) => {
  const put = (entity, value) => { made.push({ name, entity, value }) }
  return { create: put, setBox: put }
}
const made = []
export const [Transform, MeshRenderer, MeshCollider, GltfContainer] =
  ['Transform', 'MeshRenderer', 'MeshCollider', 'GltfContainer'].map(component)
export const pointerEventsSystem = { onPointerDown: ({ entity, opts }, click) => clicks.set(entity, { opts, click }) }
export const getPlayer = () => ({ userId: globalThis.player })
export const [UiEntity, Label, Button] = ['UiEntity', 'Label', 'Button']
export const ReactEcsRenderer = { addUiRenderer: (entity, ui) => panels.set(entity, ui) }
export default {
  createElement: (type, props, ...children) =>
    typeof type === 'function' ? type({ ...props, children }) : { type, props: props ?? {}, children },
}

const drawn = () => {
  const nodes = []
  const visit = (node) => {
    if (Array.isArray(node)) node.forEach(visit)
    else if (node) { nodes.push(node); visit(node.children) }
  }
  for (const ui of panels.values()) visit(ui())
  return nodes
}
const props = (type) => drawn().filter((node) => node.type === type).map((node) => node.props)
globalThis.scene = {
  frame: (passedS) => { for (const system of [...systems]) system(passedS) },
  isIdle: () => systems.size === 0,
  click: () => [...clicks.values()][0].click(),
  press: (value) => props('Button').find((button) => button.value === value).onMouseDown(),
  made: () => made,
  hints: () => [...clicks.values()].map(({ opts }) => opts.hoverText),
  screen: () => ({
    labels: props('Label').map(({ value }) => value),
    buttons: props('Button').map(({ value }) => value),
    pictures: props('UiEntity').flatMap(({ uiBackground }) => uiBackground?.texture ? [uiBackground.texture.src] : []),
  }),
}
`

const ENTRY = '\0entry'
const SDK = '\0sdk'

/**
 * A bundle of a scene or of its server as the SDK's build tool makes it: one file of CommonJS, which requires the modules of
 * the runtime (`~system/…`) alone.
 *
 * @param code what the scene has in its `src/index.ts`
 * @param options `minify`, and `withoutSdk` for a bundle in which the SDK is missing: to measure what the booth adds
 */
export async function bundleScene(
  code: string,
  options: { readonly minify?: boolean; readonly withoutSdk?: boolean } = {},
): Promise<string> {
  const isSdk = (id: string) => id.startsWith('@dcl/sdk/')
  const resolver: Plugin = {
    name: 'scene',
    resolveId: (id) => {
      if (id === ENTRY) return id
      if (isSdk(id)) return options.withoutSdk ? { id, external: true } : SDK
      if (id.startsWith('@noble/hashes/')) return require.resolve(id)
      const [, entry] = /^@landpass\/booth(?:\/([\w-]+))?$/.exec(id) ?? []
      return id.startsWith('@landpass/booth') ? join(BOOTH_PATH, `src/${entry ?? 'index'}.ts`) : undefined
    },
    load: (id) => (id === ENTRY ? { code, moduleType: 'ts' } : id === SDK ? STAND_INS : undefined),
  }
  const bundle = await rolldown({
    input: ENTRY,
    external: /^~system\//,
    plugins: [resolver],
  })
  const { output } = await bundle.generate({ format: 'cjs', minify: options.minify ?? false })
  await bundle.close()
  return output[0].code
}
