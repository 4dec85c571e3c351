import { latePart } from '../ui/late-part.tsx'
import type { QrCodeProps } from '../ui/qr-code.tsx'
import type { ChangeFormProps } from './change-form-props.ts'

/** The form that changes an event that was made here. */
export const LateChangeForm = latePart<ChangeFormProps>(
  async () => (await import('./change-part.ts')).ChangeForm,
)
/** The form that makes an event here, and the edit code of the event that it has made. */
export const LateMakeForm = latePart<object>(async () => (await import('./make-part.ts')).MakePart)

export const LateQrCode = latePart<QrCodeProps>(async () => (await import('../ui/qr-code.tsx')).QrCode)
