import { attendance, type EventInfo, type Sentences } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Availability } from '../api/attendance.ts'
import { send } from '../api/client.ts'
import { type TextKey, text } from '../texts/texts.ts'

interface PlayerWordsProps {
  readonly info: EventInfo
  readonly availability: Availability
}

/** In the order in which they are shown. */
const CASES = [
  ['now', 'organise.player.now'],
  ['elsewhere', 'organise.player.elsewhere'],
  ['guest', 'organise.player.guest'],
  ['again', 'organise.player.again'],
  ['preview', 'organise.player.preview'],
] as const satisfies readonly (readonly [keyof Sentences, TextKey])[]

/** What a player reads at the booth, now and in other cases that organisers ask about: the server's own sentences. */
export function PlayerWords({ info, availability }: PlayerWordsProps) {
  const sentences = useSignal<Sentences | undefined>(undefined)
  const { uuid, coordinates, requires_presence, allows_guests } = info
  useEffect(() => {
    const aborting = new AbortController()
    send(attendance.sentences(uuid), aborting.signal).then(
      (found) => {
        sentences.value = found
      },
      () => {}, // the page says what fails where it reads the event
    )
    return () => aborting.abort()
  }, [uuid, coordinates, requires_presence, allows_guests, availability.reason])
  const said = sentences.value
  if (!said) return null
  return (
    <section class="card">
      <h2>{text('organise.player.heading')}</h2>
      <dl class="words">
        {CASES.map(
          ([name, when]) => said[name] !== null && <Words key={name} when={text(when)} words={said[name]} />,
        )}
      </dl>
    </section>
  )
}

function Words({ when, words }: { readonly when: string; readonly words: string }) {
  return (
    <div>
      <dt>{when}</dt>
      <dd lang="en">{words}</dd>
    </div>
  )
}
