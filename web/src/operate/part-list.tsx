import { useSignal } from '@preact/signals'
import type { OperatorCalls } from '../api/approvals.ts'
import { formatDateTime, formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { useFirstFocus } from '../ui/focus.ts'
import { Failure } from '../ui/notice.tsx'

type OperatedParts = Awaited<ReturnType<OperatorCalls['parts']>>
type Part = OperatedParts['parts'][number]

interface PartListProps {
  readonly calls: OperatorCalls
  readonly first: OperatedParts
}

/** All parts of the server, read again when the operator asks for it. */
export function PartList({ calls, first }: PartListProps) {
  const shown = useSignal(first)
  const error = useSignal<unknown>(undefined)
  const heading = useFirstFocus<HTMLHeadingElement>()
  const read = async () => {
    error.value = undefined
    try {
      shown.value = await calls.parts()
    } catch (failed) {
      error.value = failed
    }
  }
  const { version, started_at: startedAt, parts } = shown.value
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        {text('operate.since', { version, time: formatDateTime(Date.parse(startedAt)) })}
      </h2>
      <p class="hint">{text('operate.hint')}</p>
      {parts.map((part) => (
        <PartCard key={part.part} {...part} />
      ))}
      {error.value !== undefined && <Failure error={error.value} />}
      <button type="button" onClick={() => void read()}>
        {text('operate.again')}
      </button>
    </>
  )
}

function PartCard({ part, condition, problem, facts }: Part) {
  return (
    <section class={`card part part-${condition}`}>
      <h3>
        {text(`operate.part.${part}`)}
        <span class="condition">{text(`operate.condition.${condition}`)}</span>
      </h3>
      {problem && <p>{text(`operate.problem.${problem}`)}</p>}
      {problem === 'events_wait' && <a href="approve">{text('approve.title')}</a>}
      <dl>
        {Object.entries(facts).map(([name, value]) => (
          <div key={name}>
            <dt>{text(`operate.fact.${name as keyof Part['facts']}`)}</dt>
            <dd>{formatNumber(value)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
