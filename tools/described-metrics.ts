import { createApp } from '@landpass/server/app'
import type { Chain } from '@landpass/server/chain/chain'
import { MAINNET } from '@landpass/server/chain/networks/known-networks'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { readConfig } from '@landpass/server/config/config'
import type { Engine } from '@landpass/server/db/engine'
import { tradeContractsOf } from '@landpass/server/listings/trade-contracts'

/** A metric of the server, as `/metrics` describes it. */
export interface DescribedMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly labelNames: readonly string[]
}

/** All metrics of a server that serves everything, follows the chain and reads signed offers, in the order of their names. */
export async function describedMetrics(): Promise<readonly DescribedMetric[]> {
  const { server, metrics } = await createApp({
    config: readConfig({ LOG_LEVEL: 'silent', LISTINGS_URL: 'http://listings.example' }),
    clock: SYSTEM_CLOCK,
    tradeContracts: tradeContractsOf(MAINNET),
    // The metrics are only described, so nothing is read of the database and of the chain
    engine: {} as Engine,
    chain: { chain: { follower: {}, checking: {} } as Chain, ownState: () => undefined },
  })
  await server.close()
  // The library names the type of a metric by its class alone, and its own types leave the names of labels out
  const described = metrics.registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string
    readonly help: string
    readonly labelNames: readonly string[]
    readonly constructor: { readonly name: string }
  }[]
  return described
    .map(({ name, help, labelNames, constructor: kind }) => ({
      ...{ name, help, labelNames },
      type: kind.name.toLowerCase() as DescribedMetric['type'],
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
