import { useLayoutEffect, useRef } from 'preact/hooks'
import { linkToHere } from '../address-bar/address-bar.ts'
import { frameCode } from '../asset/embed.ts'
import { text } from '../texts/texts.ts'
import { CopyField } from '../ui/copy-field.tsx'
import './share.css'

/** The address of what the page shows, and HTML for other websites. */
export function ShareDialog({ onClose }: { onClose(): void }) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  const close = () => dialog.current?.close()
  const code = frameCode({ address: linkToHere('/embed'), title: document.title })
  return (
    <dialog ref={dialog} class="share card" aria-labelledby="share-title" onClose={onClose}>
      <header class="panel-header">
        <h2 id="share-title">{text('share.title')}</h2>
        <button type="button" class="quiet panel-close" aria-label={text('common.close')} onClick={close}>
          <span aria-hidden="true">×</span>
        </button>
      </header>
      <CopyField label={text('asset.link')} hint={text('share.link.hint')} value={linkToHere()} />
      <CopyField label={text('asset.embed')} hint={text('share.embed.hint')} value={code} />
    </dialog>
  )
}
