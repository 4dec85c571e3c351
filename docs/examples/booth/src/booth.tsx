import {
  engine,
  executeTask,
  InputAction,
  MeshCollider,
  MeshRenderer,
  pointerEventsSystem,
  Transform,
} from '@dcl/sdk/ecs'
// biome-ignore lint/correctness/noUnusedImports: the build makes calls of ReactEcs from the JSX below
import ReactEcs, { Input, Label, ReactEcsRenderer, UiEntity } from '@dcl/sdk/react-ecs'
import { signedFetch } from '~system/SignedFetch'
import { claim } from './claim'

const SERVER = 'https://landpass.example.org'
const EVENT = '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
/** The server of your scene, for events that need grants. Empty: the event needs none. */
const BACKEND = ''

let sentence = ''
let captcha: { imageUrl: string; answer: (text: string | undefined) => void } | undefined
let isBusy = false

export function main() {
  const box = engine.addEntity()
  Transform.create(box, { position: { x: 8, y: 1, z: 8 } })
  MeshRenderer.setBox(box)
  MeshCollider.setBox(box)
  const opts = { button: InputAction.IA_POINTER, hoverText: 'Claim your token' }
  pointerEventsSystem.onPointerDown({ entity: box, opts }, () => {
    if (!isBusy) executeTask(click)
  })
  ReactEcsRenderer.setUiRenderer(panel)
}

async function click() {
  isBusy = true
  try {
    // A player who has the token does not need the booth again
    isBusy = await claim({ server: SERVER, event: EVENT, show, readCaptcha, askForGrant })
  } catch {
    isBusy = false
    show('Something went wrong. Please click the booth again.')
  }
}

function show(text: string) {
  sentence = text
}

async function readCaptcha(imageUrl: string): Promise<string | undefined> {
  const text = await new Promise<string | undefined>((answer) => {
    captcha = { imageUrl, answer }
  })
  captcha = undefined
  return text
}

/** Your server knows who asks by the signature. It sends the grant to Landpass itself, and then answers 200. */
async function askForGrant(): Promise<boolean> {
  if (BACKEND === '') return false
  try {
    const { status } = await signedFetch({ url: `${BACKEND}/grant`, init: { method: 'POST', headers: {} } })
    return status === 200
  } catch {
    return false
  }
}

const panel = () => (
  <UiEntity
    uiTransform={{ flexDirection: 'column', alignItems: 'center', margin: { top: 60 }, width: '100%' }}
  >
    <Label value={sentence} fontSize={20} />
    {captcha && (
      <UiEntity
        uiTransform={{ width: 500, height: 150 }}
        uiBackground={{ textureMode: 'stretch', texture: { src: captcha.imageUrl } }}
      />
    )}
    {captcha && (
      <Input
        uiTransform={{ width: 500, height: 50 }}
        placeholder="What do you read?"
        onSubmit={(text) => captcha?.answer(text || undefined)}
      />
    )}
  </UiEntity>
)
