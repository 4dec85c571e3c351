import { withoutTurns } from '../texts/bidi.ts'
import { formatDays, formatNumber } from '../texts/format.ts'
import { locale, text } from '../texts/texts.ts'
import { useFirstFocus } from '../ui/focus.ts'
import { isServed } from '../ui/interfaces.ts'
import { usePageTitle } from '../ui/page-title.ts'
import { coordinatesText } from './coordinates.ts'
import { PlacesImage } from './event-look.tsx'
import { Hours } from './event-times.tsx'
import { draft, isReviewing, makeEvent } from './make-state.ts'
import { readPlaces } from './places-state.ts'
import { readCount } from './read-count.ts'
import { SentForm } from './sent-form.tsx'

/** What is going to be made, with the picture of its tokens: tokens keep the name and the first place for ever. */
export function MakeReview() {
  usePageTitle(text('organise.review.heading'))
  const heading = useFirstFocus<HTMLHeadingElement>()
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {text('organise.review.heading')}
      </h1>
      <p class="lead">{text('organise.review.explained')}</p>
      <SentForm
        class="card step make"
        submit={text('organise.make.submit')}
        busy={text('organise.make.busy')}
        actions={
          <button
            type="button"
            onClick={() => {
              isReviewing.value = false
            }}
          >
            {text('organise.review.back')}
          </button>
        }
        onSend={() => void makeEvent()}
      >
        <h2 dir="auto">{withoutTurns(draft.value.name)}</h2>
        <Picture />
        <Facts />
      </SentForm>
    </>
  )
}

/** Without a picture of the organiser the server draws the map of the place. */
function Picture() {
  const { image, name } = draft.value
  if (image !== '')
    return (
      <img
        class="event-picture"
        src={image}
        alt={text('organise.make.picture_chosen')}
        width="160"
        height="160"
      />
    )
  return (
    <>
      {isServed('land') && <PlacesImage coordinates={coordinatesText(readPlaces.value.places)} name={name} />}
      <p class="hint">{text('organise.review.drawn')}</p>
    </>
  )
}

function Facts() {
  const { description, link, first_day, last_day, tokens, ...rules } = draft.value
  const chosen = [
    rules.requiresPresence && text('organise.make.presence'),
    rules.requiresCaptcha && text('organise.make.captcha'),
    rules.hidesHolders && text('organise.make.hide_holders'),
  ].filter((rule) => rule !== false)
  return (
    <dl class="facts">
      <dt>{text('organise.make.description')}</dt>
      <dd class="lines" dir="auto">
        {withoutTurns(description.trim()) || text('approval.no_description')}
      </dd>
      {link.trim() !== '' && (
        <>
          <dt>{text('organise.make.link')}</dt>
          <dd class="lines">{link.trim()}</dd>
        </>
      )}
      <dt>{text('organise.places.label')}</dt>
      <dd class="lines">{coordinatesText(readPlaces.value.places).replaceAll(';', '; ')}</dd>
      <dt>{text('organise.make.times')}</dt>
      <dd>
        <p>{formatDays(Date.parse(first_day), Date.parse(last_day))}</p>
        <Hours times={draft.value} />
      </dd>
      <dt>{text('organise.make.tokens')}</dt>
      <dd>{formatNumber(readCount(tokens, locale.peek()) ?? 0)}</dd>
      <dt>{text('organise.make.options')}</dt>
      <dd>
        {chosen.map((rule) => (
          <p key={rule}>{rule}</p>
        ))}
      </dd>
    </dl>
  )
}
