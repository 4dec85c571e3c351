import { isInWorld, type World } from '@landpass/client/grid'
import { CommandError } from '../../errors.ts'
import type { ParcelRow } from '../events/land-rows.ts'
import { emptyParcel } from '../events/new-rows.ts'
import type { Registries } from '../records/contracts.ts'
import { parseExactJson } from '../records/exact-json.ts'
import { type LandLines, type LandTables, RECORDS } from '../records/tables.ts'
import { type CheckedSnapshot, checkFolder } from './check.ts'
import { type DataSetName, TABLE_OF } from './format.ts'
import { Grid } from './grid.ts'
import { MANIFEST, type SnapshotBlock } from './manifest.ts'
import { ErrorLog, type ImportReport } from './report.ts'

/**
 * What is known of the land before anything happened on the chain: the cells of the map, and what no log says. Nobody
 * owns a parcel.
 */
export interface Ground {
  readonly parcels: readonly ParcelRow[]
  readonly districts: readonly Row<'district'>[]
  readonly contributions: readonly Row<'contribution'>[]
  /** The block that the snapshot's world is of, where it names one: then it is more than ground. */
  readonly chain: SnapshotBlock | undefined
}

export interface GroundOptions {
  readonly world: World
  readonly registries: Registries
  readonly signal?: AbortSignal | undefined
}

type Row<Table extends keyof LandTables> = Omit<LandTables[Table], 'world_id'>

/** Every parcel of the world, and nothing else. */
export function bareGround(world: World, createdAtMs: number): Ground {
  const grid = new Grid(world)
  const parcels: ParcelRow[] = []
  for (let cell = 0; cell < grid.size; cell++) {
    const coord = grid.coordOf(cell)
    if (grid.cellOf(coord) === cell) parcels.push(emptyParcel(coord, createdAtMs))
  }
  return { parcels, districts: [], contributions: [], chain: undefined }
}

/**
 * Reads the ground of a snapshot: districts, contributions, and of each parcel its district, what is near, and its price
 * in the first auction. All else comes from the chain.
 *
 * @throws {CommandError} where the snapshot is bad
 */
export async function readGround(
  folder: string,
  { world, registries, signal }: GroundOptions,
): Promise<Ground> {
  const log = new ErrorLog()
  const checked = await checkFolder(folder, { world, registries, log, signal })
  const parcels: ParcelRow[] = []
  if (log.count === 0)
    for await (const row of rowsOf(checked, 'parcels', signal)) {
      const parcel = row as Row<'parcel'>
      // Parcels outside of the world come from the chain, but for those of districts.
      if (isInWorld(world, parcel) || parcel.district_id !== null) parcels.push(groundOf(parcel))
    }
  const districts = log.count === 0 ? await allOf<'district'>(checked, 'districts', signal) : []
  const contributions = log.count === 0 ? await allOf<'contribution'>(checked, 'contributions', signal) : []
  if (log.count > 0) throw badSnapshot(folder, { errors: log.errors, errorCount: log.count })
  return { parcels, districts, contributions, chain: checked.chain }
}

/** What is wrong with a snapshot, in a sentence. */
export function badSnapshot(
  folder: string,
  { errors, errorCount }: Pick<ImportReport, 'errors' | 'errorCount'>,
): CommandError {
  const [first] = errors
  const where = first ? `${first.file}${first.line === null ? '' : `:${first.line}`}` : MANIFEST
  const what = first ? `${first.field ?? ''} ${first.reason}` : ''
  return new CommandError(
    `The snapshot ${folder} is bad: ${errorCount} errors, the first in ${where}: ${what}. landpass import --dry-run ${folder} lists them.`,
  )
}

/** The columns of a parcel that no log says. Only the price of the first auction can be that of a later one. */
export const GROUND_COLUMNS = [
  'x',
  'y',
  'district_id',
  'district_position',
  'plaza_district_id',
  'plaza_distance',
  'road_district_id',
  'road_distance',
  'auction_price',
  'auction_owner',
  'created_at_ms',
] as const
type GroundColumn = (typeof GROUND_COLUMNS)[number]

/** A parcel as it was before anything happened on the chain. */
export function groundOf(parcel: Pick<ParcelRow, GroundColumn>): ParcelRow {
  const { district_id, district_position, plaza_district_id, plaza_distance } = parcel
  const { road_district_id, road_distance, auction_price, auction_owner, created_at_ms } = parcel
  return {
    ...emptyParcel(parcel, created_at_ms),
    district_id,
    district_position,
    plaza_district_id,
    plaza_distance,
    road_district_id,
    road_distance,
    auction_price,
    auction_owner,
  }
}

async function allOf<Table extends 'district' | 'contribution'>(
  checked: CheckedSnapshot,
  set: DataSetName,
  signal: AbortSignal | undefined,
): Promise<readonly Row<Table>[]> {
  const rows: Row<Table>[] = []
  for await (const row of rowsOf(checked, set, signal)) rows.push(row as Row<Table>)
  return rows
}

async function* rowsOf<Name extends DataSetName>(
  { files, links }: CheckedSnapshot,
  set: Name,
  signal: AbortSignal | undefined,
): AsyncGenerator<object> {
  const table: (typeof TABLE_OF)[Name] = TABLE_OF[set]
  let index = 0
  for await (const lines of files.get(set)!.lines(signal)) {
    for (const { text = '' } of lines) {
      const record = parseExactJson(text) as LandLines[(typeof TABLE_OF)[Name]]
      yield RECORDS[table].toRow(record, index++, links)
    }
  }
}
