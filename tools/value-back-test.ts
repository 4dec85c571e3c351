import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { perParcelWei, saleColumnsOf } from '@landpass/server/api/sales/sale-matches'
import { aboveRange, comparableSales, priceRange } from '@landpass/server/api/value/comparable-sales'
import { SYSTEM_CLOCK } from '@landpass/server/clock'
import { readConfig } from '@landpass/server/config/config'
import { migrate } from '@landpass/server/db/migrate'
import { openEngine } from '@landpass/server/db/open-engine'
import { importSnapshot } from '@landpass/server/land/snapshot/import'
import { landAssetsOf } from '@landpass/server/state/parts/land-assets'
import { readState } from '@landpass/server/state/read-state'
import { TEST_SETTINGS } from '@landpass/server/test/support/database/settings'
import { writeDemoSnapshot } from '@landpass/simulators/demo/write-snapshot'

/**
 * How often a later price lay in the range that `/v2/parcels/:x/:y/value` would have answered just before the sale
 * (docs/sales.md): `npm run value-back-test -- <folder of a snapshot>`; without a folder it takes the demo world.
 */
const temporary = mkdtempSync(join(tmpdir(), 'landpass-back-test-'))
try {
  const [given] = process.argv.slice(2)
  const folder = given ?? join(temporary, 'demo')
  if (given === undefined) await writeDemoSnapshot(1, folder)
  await backTest(folder)
} finally {
  rmSync(temporary, { recursive: true, force: true })
}

async function backTest(folder: string): Promise<void> {
  const { world } = readConfig({})
  const engine = await openEngine({
    ...TEST_SETTINGS,
    statementTimeoutMs: 0,
    dataDir: join(temporary, 'data'),
  })
  try {
    await migrate(engine)
    const { errors } = await importSnapshot(engine.db, folder, { world, clock: SYSTEM_CLOCK, dryRun: false })
    if (errors.length > 0) throw new Error(`${folder} is no snapshot that can be imported: ${errors[0]}`)
    const parts = (await readState(engine.db, world))!
    const assets = landAssetsOf(parts)
    const columns = saleColumnsOf(parts, assets)
    const counts = { sales: columns.sales.key.length, noPlace: 0, noRange: 0, inside: 0, below: 0, above: 0 }
    const widths: number[] = []
    for (let sale = 0; sale < counts.sales; sale++) {
      const [asset, size] = [columns.asset[sale]!, columns.size[sale]!]
      if (asset < 0 || size === 0) {
        counts.noPlace++
        continue
      }
      const found = comparableSales(assets, columns, { asset, size }, columns.sales.timeMs[sale]!)
      const range = priceRange(columns, found)
      if (!range) {
        counts.noRange++
        continue
      }
      const above = aboveRange(perParcelWei(columns, sale)!, range) ?? 1
      counts[above === 0 ? 'inside' : above > 0 ? 'above' : 'below']++
      if (range.low > 0n) widths.push(Number((range.high * 1000n) / range.low) / 1000)
    }
    const ranged = counts.inside + counts.below + counts.above
    widths.sort((a, b) => a - b)
    console.log({
      ...counts,
      insideShare: counts.inside / ranged,
      medianHighByLow: widths[Math.floor(widths.length / 2)],
    })
  } finally {
    await engine.close()
  }
}
