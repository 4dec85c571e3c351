import { failureText } from '../../texts/refusal.ts'
import type { Action } from './use-action.ts'

interface ActionFaultProps {
  readonly id: string
  readonly action: Action
  /** Words of its own for a failure; undefined for the usual ones. */
  wordsOf?(fault: unknown): string | undefined
}

/** Why the last press failed, at what was pressed. */
export function ActionFault({ id, action, wordsOf }: ActionFaultProps) {
  const fault = action.fault.value
  return (
    <p class="fault" id={id} role="alert">
      {fault === undefined ? '' : (wordsOf?.(fault) ?? failureText(fault))}
    </p>
  )
}
