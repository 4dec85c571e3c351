import type { attendance } from '@landpass/client'
import { signal } from '@preact/signals'

export type MadeEventAnswer = NonNullable<ReturnType<typeof attendance.makeEvent>['answer']>

/** The event that was just made, with its edit code: in memory only, until the organiser has kept it. */
export const made = signal<MadeEventAnswer | undefined>(undefined)
