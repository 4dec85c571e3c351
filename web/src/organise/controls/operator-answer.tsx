import type { EventApproval } from '@landpass/client'
import { withoutTurns } from '../../texts/bidi.ts'
import { text } from '../../texts/texts.ts'
import { ChangedFields } from '../../ui/event-change.tsx'

/** What the operator wrote about the event, and the change that waits for the operator or was refused. */
export function OperatorAnswer({ approval }: { readonly approval: EventApproval | null }) {
  if (!approval || (approval.reason === null && approval.change === null)) return null
  const { reason, change } = approval
  return (
    <section class="card" data-part="approval">
      <h2>{text('approval.heading')}</h2>
      {reason !== null && <Reason reason={reason} />}
      {change && (
        <>
          <p>{text(change.state === 'waiting' ? 'organise.news.waits' : 'approval.change_refused')}</p>
          {change.reason !== null && <Reason reason={change.reason} />}
          <ChangedFields change={change} />
        </>
      )}
    </section>
  )
}

function Reason({ reason }: { readonly reason: string }) {
  return (
    <>
      <p>{text('approval.reason')}</p>
      <blockquote class="lines" dir="auto">
        {withoutTurns(reason)}
      </blockquote>
    </>
  )
}
