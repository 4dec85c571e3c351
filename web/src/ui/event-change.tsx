import type { EventChange } from '@landpass/client'
import { withoutTurns } from '../texts/bidi.ts'
import { formatNumber } from '../texts/format.ts'
import { text } from '../texts/texts.ts'

/** What a change makes of an event: the fields that it changes. */
export function ChangedFields({
  change,
}: {
  readonly change: Pick<EventChange, 'coordinates' | 'tokens' | 'description'> &
    Partial<Pick<EventChange, 'name' | 'event_url' | 'image'>>
}) {
  const { name = null, event_url: link = null, image = false, coordinates, tokens, description } = change
  return (
    <dl class="facts">
      {name !== null && (
        <>
          <dt>{text('organise.make.name')}</dt>
          <dd class="lines" dir="auto">
            {withoutTurns(name)}
          </dd>
        </>
      )}
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
      {link !== null && (
        <>
          <dt>{text('organise.make.link')}</dt>
          <dd class="lines">{link || text('approval.no_description')}</dd>
        </>
      )}
      {image && (
        <>
          <dt>{text('organise.make.picture')}</dt>
          <dd>{text('approval.other_picture')}</dd>
        </>
      )}
    </dl>
  )
}
