import { useSignal } from '@preact/signals'
import { text } from '../texts/texts.ts'
import { latePart } from '../ui/late-part.tsx'

const ShareDialog = latePart<{ onClose(): void }>(
  async () => (await import('./share-dialog-part.ts')).ShareDialog,
)

/** Opens the dialog with links to what the page shows. */
export function ShareButton() {
  const isOpen = useSignal(false)
  return (
    <>
      <button
        type="button"
        aria-haspopup="dialog"
        onClick={() => {
          isOpen.value = true
        }}
      >
        {text('share.title')}
      </button>
      {isOpen.value && (
        <ShareDialog
          onClose={() => {
            isOpen.value = false
          }}
        />
      )}
    </>
  )
}
