import { useMemo } from 'preact/hooks'
import { qrPath } from './qr-path.ts'

export interface QrCodeProps {
  readonly value: string
  /** Text for screen readers. */
  readonly label: string
}

/** A text as a QR code: dark on light in every theme, because readers need that. */
export function QrCode({ value, label }: QrCodeProps) {
  const { side, path } = useMemo(() => qrPath(value), [value])
  return (
    <svg class="qr-code" viewBox={`0 0 ${side} ${side}`} role="img" aria-label={label}>
      <path d={path} />
    </svg>
  )
}
