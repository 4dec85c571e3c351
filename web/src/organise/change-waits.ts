import type { EventApproval } from '@landpass/client'

/** Whether a change of an event waits for the operator; the event itself stays as it is until then. */
export function isChangeWaiting({ approval }: { readonly approval: EventApproval | null }): boolean {
  return approval?.change?.state === 'waiting'
}
