import type { EventInfo } from '@landpass/client'
import type { Availability } from '../api/attendance.ts'
import { type TextKey, text } from '../texts/texts.ts'
import { isMadeHere } from './made-here.ts'

/** What a player sees at the booth: now, and in other cases that organisers ask about. */
export function PlayerWords({ info, availability }: PlayerWordsProps) {
  return (
    <section class="card">
      <h2>{text('organise.player.heading')}</h2>
      <dl class="words">
        <Words when={text('organise.player.now')} words={text(wordsNow(info, availability))} />
        {info.requires_presence && (
          <Words when={text('organise.player.elsewhere')} words={text('error.not_at_event')} />
        )}
        {!info.allows_guests && (
          <Words when={text('organise.player.guest')} words={text('error.guest_refused')} />
        )}
        <Words when={text('organise.player.again')} words={text('error.already_claimed')} />
        <Words when={text('organise.player.preview')} words={text('error.preview_realm')} />
      </dl>
    </section>
  )
}

interface PlayerWordsProps {
  readonly info: EventInfo
  readonly availability: Availability
}

function Words({ when, words }: { readonly when: string; readonly words: string }) {
  return (
    <div>
      <dt>{when}</dt>
      <dd>{words}</dd>
    </div>
  )
}

/** Without codes that the issuer has approved, players see the same text as without loaded ones. */
function wordsNow(info: EventInfo, { reason }: Availability): TextKey {
  switch (reason) {
    case null:
      return isMadeHere(info) ? 'organise.player.made_here' : 'organise.player.open'
    case 'no_codes_loaded':
    case 'waiting_for_issuer':
      return 'error.no_codes_loaded'
    default:
      return `error.${reason}`
  }
}
