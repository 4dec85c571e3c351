import { LandpassError } from '@landpass/client'
import {
  askTokensOf,
  collectionAddress,
  type ShownToken,
  tokenAddress,
  tokenImageAddress,
} from '../api/tokens.ts'
import { withoutTurns } from '../texts/bidi.ts'
import { formatDate, formatNumber, shortAddress } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { HelpLink } from '../ui/help-link.tsx'
import { pageAddress } from '../ui/link-preferences.ts'
import { Failure, Loading, Notice } from '../ui/notice.tsx'
import { usePageTitle } from '../ui/page-title.ts'
import { useLoaded } from './use-loaded.ts'

const PER_PAGE = 24

interface CollectionProps {
  readonly address: string
  /** Counted from 1. */
  readonly page: number
}

/** The tokens of an address as cards, the newest first. */
export function CollectionView({ address, page }: CollectionProps) {
  usePageTitle(text('collection.title', { address: shortAddress(address) }))
  const query = { limit: PER_PAGE, offset: (page - 1) * PER_PAGE }
  const { data, error, retry } = useLoaded(`${address} ${page}`, (signal) =>
    askTokensOf(address, query, signal),
  )
  return (
    <>
      <h1>{text('collection.heading')}</h1>
      <HelpLink to="players" />
      <p class="row collection-address">
        <code>{address}</code>
        <CopyButton value={address} label={text('token.holder')} />
      </p>
      {error !== undefined && <CollectionFault error={error} onRetry={retry} />}
      {error === undefined && !data && <Loading label={text('collection.loading')} />}
      {data && data.total + data.poaps_total === 0 && <NoTokens />}
      {data && data.total + data.poaps_total > 0 && (
        <>
          <p class="lead" role="status">
            {text('collection.count', { count: data.total + data.poaps_total })}
          </p>
          <ul class="token-cards">
            {data.tokens.map((token) => (
              <li key={token.id}>
                <TokenCard token={token} />
              </li>
            ))}
          </ul>
          <Poaps poaps={data.poaps} />
          <Pages
            address={address}
            page={page}
            pages={Math.ceil(Math.max(data.total, data.poaps_total) / PER_PAGE)}
          />
        </>
      )}
    </>
  )
}

type PoapClaims = Awaited<ReturnType<typeof askTokensOf>>['poaps']

/** Tokens of the other issuer: they are in the wallet, so there is no page of them here. */
function Poaps({ poaps }: { readonly poaps: PoapClaims }) {
  if (poaps.length === 0) return null
  return (
    <section class="card">
      <h2>{text('collection.poaps')}</h2>
      <p>{text('collection.poaps_explained')}</p>
      <ul>
        {poaps.map(({ event, time }) => (
          <li key={event.id}>
            <strong dir="auto">{withoutTurns(event.name)}</strong>, {formatDate(Date.parse(time))}
          </li>
        ))}
      </ul>
    </section>
  )
}

function CollectionFault({ error, onRetry }: { readonly error: unknown; onRetry(): void }) {
  if (!(error instanceof LandpassError) || error.status !== 400)
    return <Failure error={error} onRetry={onRetry} />
  return (
    <Notice kind="error">
      <p>{text('map.mine.invalid')}</p>
    </Notice>
  )
}

function NoTokens() {
  return (
    <section class="card no-tokens">
      <h2>{text('collection.none')}</h2>
      <p>{text('collection.none_explained')}</p>
    </section>
  )
}

function TokenCard({ token }: { readonly token: Omit<ShownToken, 'explorer_url' | 'log' | 'event_now'> }) {
  const { id, event, number, time, given, revoked } = token
  return (
    <a class="token-card" href={pageAddress(tokenAddress(id))}>
      <img
        class={revoked ? 'is-revoked' : ''}
        src={tokenImageAddress(id)}
        alt=""
        width="512"
        height="512"
        loading="lazy"
        decoding="async"
      />
      <span class="token-card-words">
        <strong dir="auto">{withoutTurns(event.name)}</strong>
        <span>{text('token.number', { number: formatNumber(number) })}</span>
        <span>{formatDate(Date.parse(time))}</span>
        {given && <span>{text('token.given')}</span>}
        {revoked && <span class="token-card-revoked">{text('token.revoked')}</span>}
      </span>
    </a>
  )
}

/** Links, so that the browser's buttons lead through the pages. */
function Pages({ address, page, pages }: CollectionProps & { readonly pages: number }) {
  if (pages <= 1) return null
  const linkTo = (wanted: number) => {
    const query = new URLSearchParams(location.search)
    query.set('page', String(wanted))
    return `${collectionAddress(address)}?${query}`
  }
  return (
    <nav class="row collection-pages" aria-label={text('collection.pages')}>
      {page > 1 && (
        <a class="button" href={linkTo(page - 1)} rel="prev">
          {text('list.previous')}
        </a>
      )}
      <span>{text('list.page', { page, pages })}</span>
      {page < pages && (
        <a class="button" href={linkTo(page + 1)} rel="next">
          {text('list.next')}
        </a>
      )}
    </nav>
  )
}
