import { text } from '../texts/texts.ts'
import { Loading, Notice } from '../ui/notice.tsx'
import { busyAt } from './fault-state.ts'
import type { RequestPlace } from './refusal-place.ts'
import { proofInWork } from './send-as-organiser.ts'

interface BusyProps {
  readonly label: string
  readonly place?: RequestPlace
}

/** The request of a form is running: what it waits for, or the proof of work that the server has asked for. */
export function Busy({ label, place = 'step' }: BusyProps) {
  if (busyAt.value !== place) return null
  return proofInWork.value ? <ProofOfWork /> : <Loading label={label} />
}

/** How far the proof of work is that the server has asked for. Nothing is shown where it asked for none. */
export function ProofOfWork() {
  const proof = proofInWork.value
  if (!proof) return null
  return (
    <Notice kind="info">
      <p id="proof-explained">{text('organise.proof.explained')}</p>
      <progress aria-labelledby="proof-explained" max={1} value={proof.progress} />
      <p>{text('organise.proof.time')}</p>
      <button type="button" onClick={proof.cancel}>
        {text('organise.proof.cancel')}
      </button>
    </Notice>
  )
}
