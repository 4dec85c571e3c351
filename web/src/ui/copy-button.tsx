import { useSignal } from '@preact/signals'
import { type TextKey, text } from '../texts/texts.ts'

const SHOWN_MS = 2_000

export interface CopyButtonProps {
  /** The text, or a function that makes it when the button is pressed. */
  readonly value: string | (() => string)
  /** What is copied, for screen readers. */
  readonly label: string
  /** The button's text instead of “Copy”. */
  readonly caption?: string
}

/** Copies a text and says so. */
export function CopyButton({ value, label, caption }: CopyButtonProps) {
  const outcome = useSignal<TextKey | undefined>(undefined)
  const copy = async () => {
    const isCopied = await copyText(typeof value === 'string' ? value : value())
    outcome.value = isCopied ? 'common.copied' : 'common.not_copied'
    setTimeout(() => {
      outcome.value = undefined
    }, SHOWN_MS)
  }
  // What it shows must be a part of its name.
  const name =
    caption === undefined && outcome.value === undefined ? `${text('common.copy')}: ${label}` : undefined
  return (
    <button type="button" class="quiet" onClick={copy} aria-label={name}>
      <span aria-live="polite">{outcome.value ? text(outcome.value) : (caption ?? text('common.copy'))}</span>
    </button>
  )
}

/** @returns whether it was copied: a browser may refuse it, whichever way it is tried */
async function copyText(value: string): Promise<boolean> {
  try {
    // Pages loaded over plain HTTP from another machine have no `navigator.clipboard`.
    if (!navigator.clipboard) return copySelected(value)
    await navigator.clipboard.writeText(value)
    return true
  } catch {
    return copySelected(value)
  }
}

function copySelected(value: string): boolean {
  const active = document.activeElement
  const area = document.createElement('textarea')
  area.value = value
  area.className = 'visually-hidden'
  // What lies outside of an open dialog cannot be selected.
  const place = active?.closest('dialog') ?? document.body
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (active instanceof HTMLElement) active.focus({ preventScroll: true })
  return isCopied
}
