import type { EventInfo } from '@landpass/client'
import type { Availability } from '../api/attendance.ts'

/** In a file of its own: the form is loaded later than the page that shows it. */
export interface ChangeFormProps {
  readonly info: EventInfo
  readonly availability: Availability
  /** Called after the change. */
  onSaved(): void
}
