import type { AssetRights } from '@landpass/client'
import type { Answer } from '../live/use-answer.ts'
import { text } from '../texts/texts.ts'
import { Address } from './address.tsx'
import { AssetSection } from './asset-section.tsx'
import { Folded } from './folded.tsx'
import { whyText } from './why-text.ts'

/** Who may build here, and why (docs/rights.md). */
export function RightsSection({ answer }: { readonly answer: Answer<AssetRights> }) {
  return (
    <AssetSection title={text('asset.rights')} answer={answer}>
      {({ who }) => (
        <Folded items={who} none={text('asset.nobody')}>
          {({ address, why }) => (
            <li key={`${address} ${why}`} class="right">
              <Address address={address} />
              <span class="hint">{whyText(why)}</span>
            </li>
          )}
        </Folded>
      )}
    </AssetSection>
  )
}
