import type { Address, Word } from '../encoding/words.ts'

/** What the LAND registry needs of the estate registry, which imports the LAND registry. */
export interface EstateRegistry {
  readonly address: Address
  ownerOf(id: Word, at?: number): Address
  /** Makes an estate without parcels. @returns its id */
  mint(to: Address, text: Uint8Array): Word
  /** Takes a parcel that is transferred to the registry into an estate. */
  receive(estateId: Word, landId: Word): void
}
