import type { Estate, Parcel } from '@landpass/client'
import { formatDateTime } from '../texts/format.ts'
import { text } from '../texts/texts.ts'
import { Address } from './address.tsx'
import { Fact, Facts } from './facts.tsx'

type Rented = Pick<Parcel | Estate, 'owner' | 'tenant' | 'rented_until'>

/** Who rents it from whom, and until when; nothing while it is not rented. */
export function Rent({ asset: { owner, tenant, rented_until } }: { readonly asset: Rented }) {
  if (tenant === null || rented_until === null) return null
  return (
    <div class="rent">
      <p>
        <strong>{text('asset.rented', { date: formatDateTime(rented_until) })}</strong>
      </p>
      <Facts>
        <Fact name={text('asset.tenant')}>
          <Address address={tenant} />
        </Fact>
        {owner !== null && (
          <Fact name={text('asset.lessor')}>
            <Address address={owner} />
          </Fact>
        )}
      </Facts>
      <p class="hint">{text('asset.rented.explained')}</p>
    </div>
  )
}
