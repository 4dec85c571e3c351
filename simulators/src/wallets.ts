import { keccak256 } from '@landpass/server/ethereum/keccak256'
import { addressOf } from '@landpass/server/ethereum/signatures'

/** A made-up person who can sign. */
export interface Wallet {
  /** 32 bytes. */
  readonly key: Uint8Array
  /** Lower case. */
  readonly address: string
}

/** Owners of a demo world with these ranks have a key. */
const RANKS_APART = 10
const COUNT = 40

let made: readonly Wallet[] | undefined

/** The people of every demo world whose keys are known: always the same ones. */
export function wallets(): readonly Wallet[] {
  made ??= Array.from({ length: COUNT }, (_, number) => {
    const key = keccak256(Buffer.from(`demo owner ${number}`))
    return { key, address: addressOf(key) }
  })
  return made
}

/** The person of this rank, the owner with most land having rank 0; undefined where the address of that rank has no key. */
export function walletOfRank(rank: number): Wallet | undefined {
  return rank % RANKS_APART === 0 ? wallets()[rank / RANKS_APART - 1] : undefined
}
