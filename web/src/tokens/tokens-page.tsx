import './tokens.css'
import { useMemo } from 'preact/hooks'
import { text } from '../texts/texts.ts'
import { Notice } from '../ui/notice.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { CheckView } from './check-view.tsx'
import { CollectionView } from './collection-view.tsx'
import { readPageAddress } from './page-address.ts'
import { TokenView } from './token-view.tsx'

/** The page of a token, that of all tokens of an address, and that which checks a token from elsewhere. */
export function TokensPage() {
  const subject = useMemo(() => readPageAddress(location.pathname, location.search), [])
  return (
    <div class="tokens-page">
      <PageHeader />
      <main>
        {subject?.kind === 'token' && <TokenView id={subject.id} />}
        {subject?.kind === 'check' && <CheckView />}
        {subject?.kind === 'collection' && <CollectionView {...subject} />}
        {subject === undefined && <Notice kind="error">{text('error.token_not_found')}</Notice>}
      </main>
    </div>
  )
}
