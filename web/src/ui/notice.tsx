import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { refusalText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'

export interface NoticeProps {
  readonly kind: 'info' | 'success' | 'warning' | 'error'
  readonly children: ComponentChildren
}

/** A sentence that matters. Failures are read out at once, the rest when there is a pause. */
export function Notice({ kind, children }: NoticeProps) {
  return (
    <div class={`notice notice-${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** A failure: cause and next step, with a button where trying again can help. */
export function Failure({ error, onRetry }: { readonly error: unknown; onRetry?(): void }) {
  return (
    <Notice kind="error">
      <p>{refusalText(error)}</p>
      {onRetry && <RetryButton onRetry={onRetry} />}
    </Notice>
  )
}

/** When it goes with the failure, the keyboard stays in the panel that it was in. */
function RetryButton({ onRetry }: { onRetry(): void }) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    const { current } = button
    return () => {
      if (current !== document.activeElement) return
      current?.closest<HTMLElement>('[tabindex="-1"]')?.focus({ preventScroll: true })
    }
  }, [])
  return (
    <button type="button" ref={button} onClick={onRetry}>
      {text('common.retry')}
    </button>
  )
}

/** While something is under way. */
export function Loading({ label }: { readonly label: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {label}
    </p>
  )
}
