/** The contracts that hold land, as they stand in the data: lower case. */

/** LANDRegistry: one token per parcel. */
export const LAND_REGISTRY = '0xf87e31492faf9a91b02ee0deaad50d51d56d5d4d'

/** EstateRegistry: one token per estate. It is the owner of every parcel inside an estate. */
export const ESTATE_REGISTRY = '0x959e104e1a4db6317fa58f8295f586e1a978c297'
