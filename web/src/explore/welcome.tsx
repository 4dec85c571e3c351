import { useSignal } from '@preact/signals'
import { readStored, writeStored } from '../stored.ts'
import { text } from '../texts/texts.ts'

const isDemo = document.documentElement.dataset.isDemo === 'true'

/** Says what this page is, and that the land of the demo is made up, until the reader has closed it. */
export function Welcome() {
  const isClosed = useSignal(readStored('welcomed') !== null)
  if (isClosed.value) return null
  const close = () => {
    writeStored('welcomed', 'yes')
    isClosed.value = true
  }
  return (
    <aside class="welcome">
      <p>
        {text('map.welcome')} {isDemo && <strong>{text('map.welcome.demo')}</strong>}
      </p>
      <button type="button" class="quiet" onClick={close}>
        {text('map.welcome.close')}
      </button>
    </aside>
  )
}
