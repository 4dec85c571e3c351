import type { Estate, Parcel } from '@landpass/client'
import { type TextKey, text } from '../texts/texts.ts'
import { Address } from './address.tsx'
import { Folded } from './folded.tsx'

type Rights = Pick<Parcel | Estate, 'update_operator' | 'approvals_for_all' | 'update_managers'>

/** Who may act here without owning it, in words; nothing where no address is known. */
export function RightsSection({ rights }: { readonly rights: Rights }) {
  const { update_operator, approvals_for_all, update_managers } = rights
  const holders: readonly (readonly [TextKey, readonly string[]])[] = [
    ['asset.rights.update_operator', update_operator === null ? [] : [update_operator]],
    ['asset.rights.managers', update_managers],
    ['asset.rights.all', approvals_for_all],
  ]
  const known = holders.filter(([, addresses]) => addresses.length > 0)
  if (known.length === 0) return null
  return (
    <section class="asset-section">
      <h3>{text('asset.rights')}</h3>
      {known.map(([right, addresses]) => (
        <div key={right} class="right">
          <p>{text(right)}</p>
          <Folded items={addresses} none="">
            {(address) => (
              <li key={address}>
                <Address address={address} />
              </li>
            )}
          </Folded>
        </div>
      ))}
    </section>
  )
}
