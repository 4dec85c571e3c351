/** The contracts whose tokens are the land, in lower case. */
export interface Registries {
  /** LANDRegistry: one token per parcel. */
  readonly land: string
  /** EstateRegistry: one token per estate. It is the owner of every parcel inside an estate. */
  readonly estate: string
}

export const MAINNET_REGISTRIES: Registries = {
  land: '0xf87e31492faf9a91b02ee0deaad50d51d56d5d4d',
  estate: '0x959e104e1a4db6317fa58f8295f586e1a978c297',
}
