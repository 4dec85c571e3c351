import { readFileSync } from 'node:fs'

// Tests run as compiled, the table lies with the sources.
const TABLE = new URL('../../../../test/support/attendance/contract-wallet-vectors.json', import.meta.url)

interface Vector {
  readonly name: string
  readonly chain: readonly { readonly type: string; readonly payload: string; readonly signature: string }[]
  readonly calls: readonly { readonly to: string; readonly data: string }[]
  /** What the two calls answer: in hex, `revert`, or `node error`. */
  readonly verdicts: readonly {
    readonly first: string
    readonly second: string | null
    readonly expect: 'accept' | 'refuse' | 'retry'
  }[]
}

/** Requests of wallets that are contracts, and what such a contract is asked, made by others than us. */
export const CONTRACT_WALLETS = JSON.parse(readFileSync(TABLE, 'utf8')) as {
  /** Freeze the clock here. */
  readonly now: number
  readonly vectors: readonly [Vector, Vector]
}

/** The headers of the request that a vector has signed. */
export function headersOf({ chain }: Vector): Record<string, string> {
  const signed = chain.at(-1)!.payload
  const [, timestamp = '', metadata = ''] = /^\w+:[^:]*:(\d+):(.*)$/.exec(signed) ?? []
  const links = chain.map((link, at) => [`x-identity-auth-chain-${at}`, JSON.stringify(link)])
  return {
    ...Object.fromEntries(links),
    'x-identity-timestamp': timestamp,
    'x-identity-metadata': metadata,
  }
}
