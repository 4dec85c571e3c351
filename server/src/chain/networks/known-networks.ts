import type { Network } from '../chain-types.ts'
import { contractsHash } from './contracts-hash.ts'

/** The block that created LAND on mainnet: no other contract logged anything about the land before it. */
const MAINNET_FIRST = 4_944_642
/** The same on Sepolia. */
const SEPOLIA_FIRST = 3_831_219

/**
 * The world that players know. Of the contracts without a known block of creation the start is the first block of
 * LAND: a filter by address costs nothing in blocks in which the contract does not exist.
 */
export const MAINNET: Network = {
  name: 'mainnet',
  chainId: 1,
  landApprovalForAllArgumentOrderChangesAtBlock: 5_808_417,
  contracts: {
    LANDRegistry: { address: '0xf87e31492faf9a91b02ee0deaad50d51d56d5d4d', startBlock: MAINNET_FIRST },
    EstateRegistry: { address: '0x959e104e1a4db6317fa58f8295f586e1a978c297', startBlock: 6_236_547 },
    Marketplace: { address: '0x8e5660b4ab70168b5a6feea0e0315cb49c8cd539', startBlock: 6_496_012 },
    LegacyMarketplace: { address: '0xb3bca6f5052c7e24726b44da7403b56a8a1b98f8', startBlock: MAINNET_FIRST },
    ERC721Bid: { address: '0xe479dfd9664c693b2e2992300930b00bfde08233', startBlock: 7_270_906 },
    LANDAuction: { address: '0x54b7a124b44054da3692dbc56b116a35c6a3e561', startBlock: MAINNET_FIRST },
    MortgageManager: { address: '0x9abf1295086afa0e49c60e95c437aa400c5333b8', startBlock: MAINNET_FIRST },
    MortgageHelper: { address: '0x90263ea5c57dc6603ca7202920735a6e31235bb9', startBlock: MAINNET_FIRST },
    RCNEngine: { address: '0xba5a17f8ad40dc2c955d95c0547f3e6318bd72e7', startBlock: MAINNET_FIRST },
    // Created at block 4162050, before the land.
    MANAToken: { address: '0x0f5d2fb29fb7d3cfee444a200298f468908cc942', startBlock: MAINNET_FIRST },
    OffChainMarketplace: { address: '0x2d6b3508f9aca32d2550f92b2addba932e73c1ff', startBlock: 20_843_699 },
    OffChainMarketplaceV2: { address: '0x1b67d0e31eeb6b52d8eeed71d3616c2f5b33b8e7', startBlock: 23_598_480 },
    OffChainMarketplaceV3: { address: '0x0f11d0d1671519683bd48abf3dbe779e300941cd', startBlock: 25_950_329 },
    Rentals: { address: '0x3a1469499d0be105d4f77045ca403a5f6dc2f3f5', startBlock: 16_070_889 },
  },
}

/** The test network. It has only the latest version of each contract, and neither auctions nor mortgages. */
export const SEPOLIA: Network = {
  name: 'sepolia',
  chainId: 11_155_111,
  landApprovalForAllArgumentOrderChangesAtBlock: 0,
  contracts: {
    LANDRegistry: { address: '0x42f4ba48791e2de32f5fbf553441c2672864bb33', startBlock: SEPOLIA_FIRST },
    EstateRegistry: { address: '0x369a7fbe718c870c79f99fb423882e8dd8b20486', startBlock: 3_831_232 },
    Marketplace: { address: '0xccf0c17da6cd68041b1bf0f7e015767242077d8c', startBlock: 3_831_225 },
    ERC721Bid: { address: '0x2c2835b95852fd975e087b3b25297322728792e2', startBlock: 3_831_237 },
    // Created at block 3831216, before the land.
    MANAToken: { address: '0xfa04d2e2ba9aec166c93dfeeba7427b2303befa9', startBlock: SEPOLIA_FIRST },
    OffChainMarketplace: { address: '0x54bdd3ffc1448bdab0251f05dd554eec803adb2f', startBlock: 6_770_056 },
    OffChainMarketplaceV2: { address: '0x1b67d0e31eeb6b52d8eeed71d3616c2f5b33b8e7', startBlock: 9_455_328 },
    OffChainMarketplaceV3: { address: '0x257db44ac97789c16ab277eae87dcde0c246cc9f', startBlock: 11_419_771 },
    Rentals: { address: '0xe70db6319e9cee3f604909bdade58d1f5c1cf702', startBlock: 3_831_254 },
  },
}

/** The networks that have a name. */
export const KNOWN_NETWORKS: readonly Network[] = [MAINNET, SEPOLIA]

/** Whether a network has the contracts of a known one, whatever its name is: also a copy in another thread. */
export function isKnownNetwork(network: Network): boolean {
  return KNOWN_NETWORKS.some((known) => contractsHash(known) === contractsHash(network))
}
