import { AppError } from '../../errors.ts'

/** The refusal of a captcha or a claim that comes from the preview of a scene. */
export function previewRealm(): AppError {
  return new AppError(
    'preview_realm',
    'This scene runs in preview, where players cannot be located. Ask the organiser for a rehearsal, or deploy the scene.',
  )
}
