import { MAINNET_REGISTRIES } from '../../../src/land/records/contracts.ts'

/** The contracts of the worlds that tests import. */
export const { land: LAND_REGISTRY, estate: ESTATE_REGISTRY } = MAINNET_REGISTRIES
