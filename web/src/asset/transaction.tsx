import type { ComponentChildren } from 'preact'
import { explorer } from '../live/chain.ts'
import { shortAddress } from '../texts/format.ts'
import { text } from '../texts/texts.ts'

export interface TransactionProps {
  /** The hash of the transaction; undefined or null where it is not known. */
  readonly hash: string | null | undefined
  readonly children: ComponentChildren
}

/** What happened in a transaction, as a link to it where an explorer is known. */
export function Transaction({ hash, children }: TransactionProps) {
  const address = explorer.value
  if (!address || !hash) return <>{children}</>
  const label = text('chain.transaction', { hash: shortAddress(hash) })
  return (
    <a href={address.replaceAll('{tx}', hash)} title={label} rel="noreferrer" target="_blank">
      {children}
      <span class="visually-hidden">, {label}</span>
    </a>
  )
}
