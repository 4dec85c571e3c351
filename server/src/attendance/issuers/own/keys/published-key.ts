import type { KeyTime } from './token-key-queries.ts'

/** A key of our issuer, as it is published. Times are in seconds. */
export interface PublishedKey {
  readonly address: string
  readonly from: number
  readonly until: number | null
  readonly state: 'active' | 'retired' | 'compromised'
  /** Since when it counts as stolen. */
  readonly withdrawnAt: number | null
}

/** A key as it is published at a time. */
export function published({ address, from_s, until_s, withdrawn_at_s }: KeyTime, nowS: number): PublishedKey {
  const isOver = until_s !== null && until_s <= nowS
  return {
    address,
    from: from_s,
    until: until_s,
    state: withdrawn_at_s !== null ? 'compromised' : isOver ? 'retired' : 'active',
    withdrawnAt: withdrawn_at_s,
  }
}
