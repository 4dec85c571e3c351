import type { Report } from '@landpass/client'
import { formatDateTime } from '../../texts/format.ts'
import { type TextKey, text } from '../../texts/texts.ts'
import { isMadeHere } from '../made-here.ts'

/** Whether the services answer without which there are no tokens. */
export function Services({ report }: { readonly report: Report }) {
  const { event, issuer, presence, alarms } = report
  return (
    <section class="card">
      <h2>{text('controls.services.heading')}</h2>
      <dl class="facts services">
        <dt>{text('controls.services.issuer')}</dt>
        {isMadeHere(event) ? (
          <dd>{text('controls.services.own')}</dd>
        ) : (
          <Service state={issuer} failing="controls.services.issuer_failing" />
        )}
        <dt>{text('controls.services.presence')}</dt>
        <Service state={presence} failing="controls.services.presence_failing" />
      </dl>
      {alarms.map(({ kind, answers }) => (
        <p class="fault" key={kind}>
          {text(`controls.services.${kind}`, { count: answers })}
        </p>
      ))}
    </section>
  )
}

interface ServiceProps {
  readonly state: Report['issuer'] | Report['presence']
  /** What that means for players, and what to do. */
  readonly failing: TextKey
}

function Service({ state: { status, since }, failing }: ServiceProps) {
  const isFailing = status === 'failing'
  return (
    <dd class={isFailing ? 'is-failing' : ''}>
      {isFailing
        ? text('controls.services.failing', { time: since === null ? '' : formatDateTime(Date.parse(since)) })
        : text(status === 'ok' ? 'controls.services.ok' : 'controls.services.unknown')}
      {isFailing && <p>{text(failing)}</p>}
    </dd>
  )
}
