import type { EventInfo } from '@landpass/client'
import { useSignal } from '@preact/signals'
import { placesImageAddress } from '../api/places-image.ts'
import { isolated } from '../texts/bidi.ts'
import { text } from '../texts/texts.ts'
import { theme } from '../theme.ts'
import { isServed } from '../ui/interfaces.ts'
import { isMadeHere } from './made-here.ts'

/** Twice as wide as it is shown on a phone, for dense screens. */
const MAP = { width: 720, height: 360, size: 16 }

/** The picture of an event, its places on the map, and who holds its tokens. */
export function EventLook({ info }: { readonly info: EventInfo }) {
  const hasMap = isServed('land') && info.requires_presence
  const isOwn = isMadeHere(info)
  /** The image is asked for when it is opened. */
  const isOpened = useSignal(false)
  if (!hasMap && !isOwn) return null
  return (
    <section class="card event-look">
      <h2>{text('organise.look.heading')}</h2>
      {isOwn && (
        <img
          class="event-picture"
          src={`/events/${info.uuid}/image.png`}
          alt={text('token.picture', { name: isolated(info.name) })}
          width="160"
          height="160"
        />
      )}
      {hasMap && (
        <details
          onToggle={({ currentTarget }) => {
            isOpened.value = currentTarget.open
          }}
        >
          <summary>{text('organise.look.map')}</summary>
          {isOpened.value && <PlacesImage coordinates={info.coordinates} name={info.name} />}
        </details>
      )}
      {isOwn && (
        <p>
          <a href={`/events/${info.uuid}/holders.csv`}>{text('organise.look.holders')}</a>{' '}
          {text('organise.look.holders_hidden')}
        </p>
      )}
    </section>
  )
}

/** The places of an event on the map. @param coordinates `x,y;x,y` */
export function PlacesImage({ coordinates, name }: { readonly coordinates: string; readonly name: string }) {
  return (
    <img
      class="event-map"
      src={placesImageAddress(coordinates, { ...MAP, theme: theme.value })}
      alt={text('approve.map', { name: isolated(name) })}
      width={MAP.width}
      height={MAP.height}
    />
  )
}
