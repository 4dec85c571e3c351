import type { Registries } from '../../land/records/contracts.ts'
import { type Network, ZERO_ADDRESS } from '../chain-types.ts'

/**
 * The contracts whose tokens are the land of a network. A network without estates has the zero address for theirs, which
 * owns nothing.
 *
 * @example
 * registriesOf(MAINNET).land // '0xf87e31492faf9a91b02ee0deaad50d51d56d5d4d'
 */
export function registriesOf({ contracts }: Network): Registries {
  const { LANDRegistry, EstateRegistry } = contracts
  return { land: LANDRegistry.address, estate: EstateRegistry?.address ?? ZERO_ADDRESS }
}
