import type { ComponentChildren } from 'preact'
import { failureText } from '../texts/refusal.ts'
import { text } from '../texts/texts.ts'
import { useFocusKept } from './focus.ts'

export interface NoticeProps {
  readonly kind: 'info' | 'success' | 'warning' | 'error'
  readonly children: ComponentChildren
}

/** A message. Screen readers announce failures at once, other messages at the next pause. */
export function Notice({ kind, children }: NoticeProps) {
  return (
    <div class={`notice notice-${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

export interface FailureProps {
  readonly error: unknown
  /** Whether the page tries again by itself, too. */
  readonly isRepeated?: boolean
  onRetry?(): void
}

/** A failure: cause and next step, with a button where trying again can help. */
export function Failure({ error, isRepeated = false, onRetry }: FailureProps) {
  return (
    <Notice kind="error">
      <p>
        {failureText(error)} {isRepeated && text('common.keeps_trying')}
      </p>
      {onRetry && <RetryButton onRetry={onRetry} />}
    </Notice>
  )
}

/** The button disappears with the failure. */
function RetryButton({ onRetry }: { onRetry(): void }) {
  const button = useFocusKept<HTMLButtonElement>()
  return (
    <button type="button" ref={button} onClick={onRetry}>
      {text('common.retry')}
    </button>
  )
}

/** Shown while something is loading. */
export function Loading({ label }: { readonly label: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {label}
    </p>
  )
}
