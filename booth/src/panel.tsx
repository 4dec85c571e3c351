// biome-ignore lint/correctness/noUnusedImports: the build makes calls of ReactEcs from the JSX below
import ReactEcs, { Button, Label, UiEntity } from '@dcl/sdk/react-ecs'
import type { Labels } from './sentences.ts'

/** What a player sees of a booth. */
export interface Shown {
  sentence: string
  /** Picture of the token, once the player has it. */
  imageUrl: string | undefined
  /** A captcha that waits for its answer. */
  captcha: Captcha | undefined
  isClosed?: boolean
}

interface Captcha {
  readonly imageUrl: string
  typed: string
  answer(text: string | undefined): void
}

/** Letters and digits, as captchas have them. A text field would need a keyboard, which phones show over the image. */
const KEYS = ['ABCDEFGHIJKL', 'MNOPQRSTUVWX', 'YZ0123456789']
const KEY_PX = 36
const MOST_TYPED = 12
const BACKGROUND = { color: { r: 0.04, g: 0.05, b: 0.08, a: 0.92 } }
const FRAME = { flexDirection: 'column', alignItems: 'center', padding: 16 } as const

/** The panel of a booth at the top of the screen; nothing while there is nothing to show. */
export function panel(shown: Shown, labels: Labels) {
  const { sentence, captcha, imageUrl } = shown
  if (shown.isClosed || (!sentence && !captcha)) return null
  const close = () => {
    if (captcha) captcha.answer(undefined)
    else shown.isClosed = true
  }
  return (
    <UiEntity uiTransform={{ width: '100%', justifyContent: 'center', margin: { top: 60 } }}>
      <UiEntity uiTransform={FRAME} uiBackground={BACKGROUND}>
        {sentence && <Label value={sentence} fontSize={18} uiTransform={{ width: 500, minHeight: 48 }} />}
        {captcha && <CaptchaKeys captcha={captcha} labels={labels} />}
        {imageUrl && <Picture src={imageUrl} width={256} height={256} />}
        <Button value={labels.close} fontSize={16} variant="secondary" onMouseDown={close} />
      </UiEntity>
    </UiEntity>
  )
}

function CaptchaKeys({ captcha, labels }: { captcha: Captcha; labels: Labels }) {
  const type = (key: string) => {
    captcha.typed = (captcha.typed + key).slice(0, MOST_TYPED)
  }
  const erase = () => {
    captcha.typed = captcha.typed.slice(0, -1)
  }
  return (
    <UiEntity uiTransform={{ flexDirection: 'column', alignItems: 'center' }}>
      <Picture src={captcha.imageUrl} width={500} height={150} />
      <Label value={captcha.typed || labels.read} fontSize={24} uiTransform={{ height: 40 }} />
      {KEYS.map((row) => (
        <UiEntity key={row} uiTransform={{ flexDirection: 'row' }}>
          {[...row].map((key) => (
            <Key key={key} value={key} onMouseDown={() => type(key)} />
          ))}
        </UiEntity>
      ))}
      <UiEntity uiTransform={{ flexDirection: 'row', margin: { top: 8, bottom: 8 } }}>
        <Key value="←" onMouseDown={erase} />
        <Button value={labels.send} fontSize={16} onMouseDown={() => captcha.answer(captcha.typed)} />
      </UiEntity>
    </UiEntity>
  )
}

function Key({ value, onMouseDown }: { key?: string; value: string; onMouseDown: () => void }) {
  const place = { width: KEY_PX, height: KEY_PX, margin: 2 }
  return (
    <Button value={value} fontSize={16} variant="secondary" uiTransform={place} onMouseDown={onMouseDown} />
  )
}

function Picture({ src, width, height }: { src: string; width: number; height: number }) {
  return (
    <UiEntity uiTransform={{ width, height }} uiBackground={{ textureMode: 'stretch', texture: { src } }} />
  )
}
