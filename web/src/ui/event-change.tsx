import type { EventChange } from '@landpass/client'
import { withoutTurns } from '../texts/bidi.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'

/** What a change makes of an event: the fields that it changes. */
export function ChangedFields({
  change,
}: {
  readonly change: Pick<EventChange, 'coordinates' | 'tokens' | 'description'>
}) {
  const { coordinates, tokens, description } = change
  return (
    <dl class="facts">
      {coordinates !== null && (
        <>
          <dt>{text('organise.places.label')}</dt>
          <dd class="lines">{coordinates.replaceAll(';', '; ')}</dd>
        </>
      )}
      {tokens !== null && (
        <>
          <dt>{text('organise.make.tokens')}</dt>
          <dd>{formatNumber(tokens)}</dd>
        </>
      )}
      {description !== null && (
        <>
          <dt>{text('asset.description')}</dt>
          <dd class="lines" dir="auto">
            {withoutTurns(description) || text('approval.no_description')}
          </dd>
        </>
      )}
    </dl>
  )
}
