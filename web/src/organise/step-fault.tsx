import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatWait } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { fault } from './fault-state.ts'
import type { RequestPlace } from './refusal-place.ts'
import { useSecondsUntil } from './seconds-until.ts'

/**
 * A failure of the step that no field caused. The step's button tries again, at once or after the waiting time. The
 * message takes the focus, so that screen readers announce it.
 */
export function StepFault({ place = 'step' }: { readonly place?: RequestPlace }) {
  const box = useRef<HTMLDivElement>(null)
  const shown = fault.value?.place === place ? fault.value : undefined
  useLayoutEffect(() => {
    if (shown) box.current?.focus()
  }, [shown])
  const waitS = useSecondsUntil(shown?.untilMs)
  if (!shown) return null
  const isWait = shown.untilMs !== undefined
  return (
    <div ref={box} tabIndex={-1} class={`notice notice-${isWait ? 'warning' : 'error'}`}>
      <p>{shown.say()}</p>
      {shown.requestId && <p>{text('organise.request_id', { id: shown.requestId })}</p>}
      {isWait && <Countdown waitS={waitS} />}
    </div>
  )
}

/** Announced when it ends, not every second. */
function Countdown({ waitS }: { readonly waitS: number }) {
  return (
    <>
      <p role="timer">{waitS > 0 && text('organise.wait', { time: clockText(waitS) })}</p>
      <p role="status">{waitS === 0 && text('organise.wait_over')}</p>
    </>
  )
}

function clockText(seconds: number): string {
  if (seconds > 7_200) return formatWait(seconds)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
