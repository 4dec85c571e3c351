import { type EventInfo, LandpassError, land } from '@landpass/client'
import type { ComponentChildren } from 'preact'
import { findEvent } from '../api/attendance.ts'
import { client } from '../api/client.ts'
import {
  askToken,
  CHECK_ADDRESS,
  collectionAddress,
  type ShownToken,
  tokenAddress,
  tokenImageAddress,
} from '../api/tokens.ts'
import { isolated, withoutTurns } from '../texts/bidi.ts'
import { formatDateTimeThere, formatDays, formatNumber, shortAddress } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { theme } from '../theme.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { isServed } from '../ui/interfaces.ts'
import { pageAddress } from '../ui/link-preferences.ts'
import { Failure, Loading, Notice } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { QrCode } from '../ui/qr-code.tsx'
import { TokenActions } from './token-actions.tsx'
import { useLoaded } from './use-loaded.ts'
import { VerdictCard } from './verdict-card.tsx'

/** A token: what it is, where, when and whose, and whether it is genuine. */
export function TokenView({ id }: { readonly id: string }) {
  const { data: token, error, retry } = useLoaded(id, (signal) => askToken(id, signal))
  if (error instanceof LandpassError && (error.code === 'token_not_found' || error.status === 400))
    return <UnknownToken />
  if (error !== undefined) return <Failure error={error} onRetry={retry} />
  if (!token) return <Loading label={text('token.loading')} />
  return <ShownTokenView token={token} />
}

function UnknownToken() {
  usePageTitle(text('token.unknown'))
  return (
    <>
      <h1>{text('token.unknown')}</h1>
      <Notice kind="info">
        <p>{text('error.token_not_found')}</p>
      </Notice>
    </>
  )
}

function ShownTokenView({ token }: { readonly token: ShownToken }) {
  usePageTitle(`${token.event.name} #${token.number}`)
  const { data: event } = useLoaded(token.event.uuid, (signal) => findEvent(token.event.uuid, signal))
  return (
    <article class="token">
      <header class="token-hero">
        <img
          class={token.revoked ? 'token-picture is-revoked' : 'token-picture'}
          src={tokenImageAddress(token.id)}
          alt={text('token.picture', { name: isolated(token.event.name) })}
          width="512"
          height="512"
        />
        <div>
          <p class="token-kind">{text('token.title')}</p>
          <h1 dir="auto">{withoutTurns(token.event.name)}</h1>
          <p class="token-number">{text('token.number', { number: formatNumber(token.number) })}</p>
        </div>
      </header>
      <VerdictCard token={token} />
      <div class="token-columns">
        <Facts token={token} event={event} />
        {!token.given && <Place token={token} event={event} />}
      </div>
      <div class="token-columns">
        <TokenActions token={token} />
        <Scan id={token.id} />
      </div>
      <details class="token-details">
        <summary>{text('token.how_checked')}</summary>
        <p>{text('token.how_checked_text')}</p>
        <p>
          <a href={pageAddress(CHECK_ADDRESS)}>{text('check.link')}</a>
        </p>
        <dl class="token-facts">
          <Fact name={text('token.issuer')}>
            <code>{token.issuer}</code>
          </Fact>
          <Fact name="uid">
            <code>{token.uid}</code>
          </Fact>
        </dl>
      </details>
    </article>
  )
}

interface AboutToken {
  readonly token: ShownToken
  /** Undefined until it is loaded: nothing of it is needed. */
  readonly event: EventInfo | undefined
}

function Facts({ token, event }: AboutToken) {
  const { event_start_date: first, event_end_date: last, description = '' } = event ?? {}
  return (
    <section class="card">
      <h2>{text('token.about')}</h2>
      <dl class="token-facts">
        {token.given && <Fact name={text('token.where')}>{text('token.given')}</Fact>}
        <Fact name={text(token.given ? 'token.given_when' : 'token.when')}>
          {formatDateTimeThere(Date.parse(token.time), event?.time_zone ?? null)}
        </Fact>
        <Fact name={text('token.holder')}>
          <span class="row">
            <a href={pageAddress(collectionAddress(token.holder))} title={token.holder}>
              <code class="on-screen">{shortAddress(token.holder)}</code>
              <code class="on-paper">{token.holder}</code>
            </a>
            <CopyButton value={token.holder} label={text('token.holder')} />
          </span>
        </Fact>
        {token.event_now && token.event_now.name !== token.event.name && (
          <Fact name={text('token.name_now')}>
            <bdi>{withoutTurns(token.event_now.name)}</bdi>
          </Fact>
        )}
        {token.event_now && token.event_now.place !== token.event.place && (
          <Fact name={text('token.place_now')}>{text('token.place', { place: token.event_now.place })}</Fact>
        )}
        {first && (
          <Fact name={text('token.event_days')}>
            {formatDays(Date.parse(first), Date.parse(last ?? first))}
          </Fact>
        )}
      </dl>
      {description !== '' && (
        <p class="token-description" dir="auto">
          {withoutTurns(description)}
        </p>
      )}
    </section>
  )
}

/** The address of the page, to scan from paper or from another screen. */
function Scan({ id }: { readonly id: string }) {
  const address = location.origin + tokenAddress(id)
  return (
    <section class="card token-scan">
      <h2>{text('token.scan')}</h2>
      <QrCode value={address} label={text('organise.qr.label', { address })} />
      <p class="on-paper">{address}</p>
    </section>
  )
}

/** Twice as wide as it is shown on a phone, for dense screens. */
const MAP = { width: 720, height: 480, size: 20 }
/** A longer list does not fit into an address. */
const MAX_SELECTED = 200

/** Where it was: the signed place in the middle of a map, with all places of the event. */
function Place({ token, event }: AboutToken) {
  const { place } = token.event
  const center = placeOf(place)
  const others = (event?.coordinates.split(';') ?? [])
    .slice(0, MAX_SELECTED)
    .flatMap((one) => placeOf(one) ?? [])
  const name = text('token.place', { place })
  return (
    <section class="card token-place">
      <h2>{text('token.where')}</h2>
      {isServed('land') && center && (
        <a href={placeAddress(place)}>
          <img
            src={client.url(
              land.mapImage({
                ...MAP,
                center,
                selected: others.length > 0 ? others : [center],
                theme: theme.value,
              }),
            )}
            alt={text('token.map', { place })}
            width={MAP.width}
            height={MAP.height}
          />
        </a>
      )}
      <p>{name}</p>
    </section>
  )
}

/** The map page with the parcel selected. */
function placeAddress(place: string): string {
  const { pathname, searchParams } = new URL(pageAddress('/'), location.origin)
  searchParams.set('parcel', place)
  return `${pathname}?${searchParams}`
}

function placeOf(pair: string) {
  const [, x, y] = /^(-?\d{1,6}),(-?\d{1,6})$/.exec(pair) ?? []
  return x === undefined ? undefined : { x: Number(x), y: Number(y) }
}

/** A row of a list of facts. */
export function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
