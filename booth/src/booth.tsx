import {
  type Entity,
  engine,
  executeTask,
  GltfContainer,
  InputAction,
  MeshCollider,
  MeshRenderer,
  pointerEventsSystem,
  Transform,
} from '@dcl/sdk/ecs'
import { ReactEcsRenderer } from '@dcl/sdk/react-ecs'
import { type ClaimOptions, type ClaimResult, claim, NOT_YET } from './claim.ts'
import { panel, type Shown } from './panel.tsx'
import { LABELS, type Language, sentenceIn } from './sentences.ts'
import { checkServer } from './server-address.ts'

export interface BoothOptions extends Pick<ClaimOptions, 'server' | 'event' | 'askForGrant' | 'rehearse'> {
  /** An entity of the scene that players click. Left out: the booth makes one. */
  readonly entity?: Entity
  /** Path of a GLB file of the scene, with colliders, for the entity that the booth makes. Left out: a box. */
  readonly model?: string
  /** The place of that entity, in metres from the corner of the scene: 8, 1, 8 if left out. */
  readonly position?: { readonly x: number; readonly y: number; readonly z: number }
  /** English if left out: a scene does not know the language of its player. */
  readonly language?: Language
}

const MIDDLE_OF_A_PARCEL = { x: 8, y: 1, z: 8 }

/**
 * Puts a booth into the scene: a click claims the token of the event for the player, and a panel shows how it goes, the
 * captcha if there is one, and the picture of the token. It leaves the scene's own UI alone.
 *
 * @returns the entity that players click
 * @throws {RangeError} for a `server` without `http://` or `https://`
 * @example
 * createBooth({ server: 'https://landpass.example.org', event: '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11' })
 */
export function createBooth(options: BoothOptions): Entity {
  checkServer(options.server)
  const { language = 'en', entity = makeEntity(options) } = options
  const labels = LABELS[language]
  const shown: Shown = { sentence: '', imageUrl: undefined, captcha: undefined }
  let result: ClaimResult = { isDone: false }
  let isBusy = false

  function readCaptcha(imageUrl: string): Promise<string | undefined> {
    return new Promise((resolve) => {
      const answer = (text: string | undefined) => {
        shown.captcha = undefined
        shown.sentence = labels.wait
        resolve(text || undefined)
      }
      if (shown.sentence === labels.wait) shown.sentence = ''
      shown.captcha = { imageUrl, typed: '', answer }
    })
  }

  async function click() {
    shown.isClosed = false
    // A player who has the token does not need the server again
    if (isBusy || result.isDone) return
    isBusy = true
    shown.sentence = labels.wait
    try {
      const show: ClaimOptions['show'] = (notice) => {
        shown.sentence = sentenceIn(language, notice)
      }
      result = await claim({ ...options, show, readCaptcha })
      shown.imageUrl = result.token?.imageUrl
    } catch (error) {
      shown.sentence = sentenceIn(language, NOT_YET)
      throw error // executeTask writes it to the console of the scene
    } finally {
      isBusy = false
    }
  }

  const opts = { button: InputAction.IA_POINTER, hoverText: labels.claim }
  pointerEventsSystem.onPointerDown({ entity, opts }, () => executeTask(click))
  ReactEcsRenderer.addUiRenderer(entity, () => panel(shown, labels))
  return entity
}

function makeEntity({ model, position = MIDDLE_OF_A_PARCEL }: BoothOptions): Entity {
  const entity = engine.addEntity()
  Transform.create(entity, { position })
  if (model === undefined) {
    MeshRenderer.setBox(entity)
    MeshCollider.setBox(entity)
  } else GltfContainer.create(entity, { src: model })
  return entity
}
