import { type Coord, coordText, type World } from '@landpass/client/grid'
import type { BidRecord } from '../records/bid.ts'
import type { Blame } from '../records/checks.ts'
import type { DistrictRecord } from '../records/district.ts'
import type { EstateRecord } from '../records/estate.ts'
import type { MortgageRecord } from '../records/mortgage.ts'
import type { ParcelRecord } from '../records/parcel.ts'
import type { PublicationRecord } from '../records/publication.ts'
import { CellColumn, Cells } from './cells.ts'
import { nameOfLine, type RecordOf, type SetName } from './format.ts'

/** Reports an error in a record that was read earlier. */
export type BlameLine = (set: SetName, line: number, field: string, value: unknown, reason: string) => false

/** Whether a record agrees with those before it. */
type CheckLinks<R> = (record: R, line: number, blame: Blame) => boolean

const NOT_LISTED = -1

/**
 * Checks what the records say about each other. In memory it holds a few numbers per cell of the grid, and the ids
 * that must be unique.
 *
 * The data sets come in the order of DATA_SETS. What refers to a broken record is not reported on top of it:
 * the snapshot is refused anyway, and one mistake should read as one error.
 */
export class Links {
  private readonly cells: Cells
  private readonly blameLine: BlameLine
  private readonly isFromChain: boolean

  private readonly districts = new Names()
  private readonly estates = new Names()
  /** Per cell: the district that lists it, as its number from `districts`, or 0. */
  private readonly districtAt: CellColumn
  private readonly districtPositionAt: CellColumn
  /** Per cell: the line of its parcel, or 0. */
  private readonly parcelLineAt: CellColumn
  /** Per cell: the estate that its parcel names, as its number from `estates`, or 0; negative once it lists it. */
  private readonly estateAt: CellColumn
  private readonly estatePositionAt: CellColumn
  /** Per cell: 1 when its parcel is broken. */
  private readonly brokenAt: CellColumn
  private someParcelUnknown = false

  /** How many parcels the world has that the snapshot is for. */
  readonly worldParcels: number
  /** How many parcels of the snapshot lie outside of it. */
  outsideParcels = 0

  /** Checks one good record against all before it. */
  readonly check: { readonly [Name in SetName]: CheckLinks<RecordOf[Name]> } = {
    districts: (record, line, blame) => this.district(record, line, blame),
    parcels: (record, line, blame) => this.parcel(record, line, blame),
    estates: (record, line, blame) => this.estate(record, line, blame),
    publications: (record, _line, blame) => this.publication(record, blame),
    bids: (record, line, blame) => this.bid(record, line, blame),
    mortgages: (record, line, blame) => this.mortgage(record, line, blame),
    contributions: ({ district_id }, _line, blame) => this.districtExists(district_id, 'district_id', blame),
    rights: (record, _line, blame) => this.isAfterLast('rights', nameOfLine.rights(record), blame),
    trade_signatures: (record, _line, blame) =>
      this.isAfterLast('trade_signatures', nameOfLine.trade_signatures(record), blame),
    trade_indexes: (record, _line, blame) =>
      this.isAfterLast('trade_indexes', nameOfLine.trade_indexes(record), blame),
  }

  /** When the publication of the line before was made, in milliseconds since 1970. */
  private lastPublishedMs = 0
  /** The names of the last lines, by data set. */
  private readonly lastNames = new Map<SetName, string>()
  private readonly bidIds = new Map<string, number>()
  private readonly loanIds = new Map<number, number>()
  private readonly mortgageIds = new Map<number, number>()

  /**
   * @param isFromChain whether the records come from a chain, whose contracts allow more: parcels outside of the world, estates
   * whose parcels do not lie side by side, and several mortgages of one loan
   */
  constructor(
    world: World,
    blameLine: BlameLine,
    { isFromChain = false }: { readonly isFromChain?: boolean } = {},
  ) {
    this.isFromChain = isFromChain
    this.cells = new Cells(world, { takesOutside: isFromChain })
    this.worldParcels = this.cells.grid.countParcels()
    this.blameLine = blameLine
    const { size } = this.cells.grid
    this.districtAt = new CellColumn(size)
    this.districtPositionAt = new CellColumn(size)
    this.parcelLineAt = new CellColumn(size)
    this.estateAt = new CellColumn(size)
    this.estatePositionAt = new CellColumn(size, NOT_LISTED)
    this.brokenAt = new CellColumn(size)
  }

  /** A parcel's place in the list of its district and in that of its estate. */
  positionsOf(coord: Coord): { district: number; estate: number } {
    const cell = this.cells.of(coord)
    return { district: this.districtPositionAt.at(cell), estate: this.estatePositionAt.at(cell) }
  }

  /** Notes a record whose own fields are wrong, by its id as far as that is known. */
  broken(set: SetName, record: unknown): void {
    const id = idOf(record)
    if (set === 'districts') this.districts.addBroken(id)
    if (set === 'estates') this.estates.addBroken(id)
    if (set !== 'parcels') return
    const cell = this.cells.ofText(id ?? '')
    if (cell === -1) this.someParcelUnknown = true
    else this.brokenAt.set(cell, 1)
  }

  private district({ id, parcels }: DistrictRecord, line: number, blame: Blame): boolean {
    const number = this.districts.add(id, line)
    if (number === undefined) return blame('id', id, `is the id of line ${this.districts.lineOf(id)} as well`)
    let good = true
    parcels.forEach((text, position) => {
      const field = `parcels[${position}]`
      const cell = this.cells.ofText(text)
      const other = this.districtAt.at(cell)
      if (cell === -1) good = blame(field, text, 'must lie in the world')
      else if (other !== 0)
        good = blame(field, text, `is listed by district ${this.districts.nameOf(other)} already`)
      else {
        this.districtAt.set(cell, number)
        this.districtPositionAt.set(cell, position)
      }
    })
    return good
  }

  private parcel(record: ParcelRecord, line: number, blame: Blame): boolean {
    const cell = this.cells.of(record)
    if (cell === -1) return blame('id', record.id, 'must lie in the world')
    const firstLine = this.parcelLineAt.at(cell)
    if (firstLine !== 0) return blame('id', record.id, `is the parcel of line ${firstLine} as well`)
    this.parcelLineAt.set(cell, line)
    if (this.cells.isOutside(cell)) this.outsideParcels++
    if (record.estate_id !== null) this.estateAt.set(cell, this.estates.numberOf(record.estate_id))
    let good = this.parcelDistrict(record, cell, blame)
    for (const kind of ['plaza', 'road'] as const) {
      const near = record.tags.proximity?.[kind]
      if (near)
        good = this.districtExists(near.district_id, `tags.proximity.${kind}.district_id`, blame) && good
    }
    return good
  }

  private parcelDistrict({ district_id }: ParcelRecord, cell: number, blame: Blame): boolean {
    const lister = this.districtAt.at(cell)
    const named = district_id === null ? 0 : this.districts.numberOf(district_id)
    if (named === lister) return true
    if (lister !== 0)
      return blame(
        'district_id',
        district_id,
        `must be "${this.districts.nameOf(lister)}", which lists this parcel`,
      )
    if (!this.districtExists(district_id!, 'district_id', blame)) return false
    // The list of a broken district is unknown, so the parcel may be in it.
    if (this.districts.lineOf(district_id!) === 0) return true
    return blame('district_id', district_id, 'names a district that does not list this parcel')
  }

  /** All parcels are read: a district may list none that is missing. */
  endOfParcels(): void {
    if (this.someParcelUnknown) return
    for (let cell = 0; cell < this.cells.count; cell++) {
      const lister = this.districtAt.at(cell)
      if (lister === 0 || this.hasParcel(cell)) continue
      const line = this.districts.lineOf(this.districts.nameOf(lister))
      const field = `parcels[${this.districtPositionAt.at(cell)}]`
      this.blameLine(
        'districts',
        line,
        field,
        coordText(this.cells.coordOf(cell)),
        'is no parcel of the snapshot',
      )
    }
  }

  private estate({ id, data }: EstateRecord, line: number, blame: Blame): boolean {
    const number = this.estates.add(id, line)
    if (number === undefined) return blame('id', id, `is the id of line ${this.estates.lineOf(id)} as well`)
    const cells = new Set<number>()
    let good = true
    data.parcels.forEach((coord, position) => {
      const cell = this.cells.of(coord)
      const problem = cells.has(cell) ? 'is listed twice' : this.estateParcelProblem(number, cell)
      if (problem) good = blame(`data.parcels[${position}]`, coordText(coord), problem)
      else {
        cells.add(cell)
        this.estatePositionAt.set(cell, position)
      }
    })
    if (good && !this.isFromChain && !this.cells.grid.areConnected(cells))
      good = blame('data.parcels', data.parcels, 'must be connected side by side')
    return good
  }

  private estateParcelProblem(number: number, cell: number): string | undefined {
    if (cell === -1) return 'must lie in the world'
    if (this.brokenAt.at(cell)) return undefined
    if (!this.hasParcel(cell)) return this.someParcelUnknown ? undefined : 'is no parcel of the snapshot'
    const named = this.estateAt.at(cell)
    if (named !== number) {
      const says = named === 0 ? 'null' : `"${this.estates.nameOf(Math.abs(named))}"`
      if (named > 0) this.estateAt.set(cell, 0) // reported here, not once more from the parcel's side
      return `has the estate_id ${says} (line ${this.parcelLineAt.at(cell)} of the parcels)`
    }
    this.estateAt.set(cell, -number) // listed by the estate that it names
    return undefined
  }

  /** All estates are read: a parcel may name none that is missing or does not list it. */
  endOfEstates(): void {
    for (let cell = 0; cell < this.cells.count; cell++) {
      const named = this.estateAt.at(cell)
      if (named <= 0) continue
      const id = this.estates.nameOf(named)
      if (this.estates.isBroken(id)) continue
      const known = this.estates.lineOf(id) !== 0
      if (!known && this.estates.someUnknown) continue
      const reason = known
        ? 'names an estate that does not list this parcel'
        : 'names no estate of the snapshot'
      this.blameLine('parcels', this.parcelLineAt.at(cell), 'estate_id', id, reason)
    }
  }

  /** The place in the file becomes the publication's key, which stands for the order of creation. */
  private publication(record: PublicationRecord, blame: Blame): boolean {
    const { block_time_created_at: createdMs } = record
    const beforeMs = this.lastPublishedMs
    // One publication in the wrong place is one error: the next one is compared with it.
    this.lastPublishedMs = createdMs
    const isInOrder =
      createdMs >= beforeMs ||
      blame(
        'block_time_created_at',
        createdMs,
        `must not be before that of the publication above, ${beforeMs}: the file is in order of creation`,
      )
    return this.assetExists(record, blame) && isInOrder
  }

  private bid(record: BidRecord, line: number, blame: Blame): boolean {
    const name = bidName(record)
    const firstLine = this.bidIds.get(name)
    if (firstLine !== undefined) return blame('id', record.id, `is the id of line ${firstLine} as well`)
    // A second equal bid of one block has the id of the first one, which it replaces.
    if (record.closed_by !== 'replaced') this.bidIds.set(name, line)
    return this.assetExists(record, blame)
  }

  private mortgage(record: MortgageRecord, line: number, blame: Blame): boolean {
    const firstLoan = this.loanIds.get(record.loan_id)
    const firstMortgage = this.mortgageIds.get(record.mortgage_id)
    let good = this.assetExists(record, blame)
    // Contracts take another mortgage for the loan of one that was cancelled.
    if (firstLoan !== undefined && !this.isFromChain)
      good = blame('loan_id', record.loan_id, `is that of line ${firstLoan} as well`)
    else this.loanIds.set(record.loan_id, line)
    if (firstMortgage !== undefined)
      good = blame('mortgage_id', record.mortgage_id, `is that of line ${firstMortgage} as well`)
    else this.mortgageIds.set(record.mortgage_id, line)
    return good
  }

  /** The order finds a record that is there twice. */
  private isAfterLast(set: SetName, name: string, blame: Blame): boolean {
    const last = this.lastNames.get(set) ?? ''
    this.lastNames.set(set, name)
    return (
      name > last ||
      blame('', undefined, 'must come after the line above: the file is in order, each record once')
    )
  }

  private assetExists(asset: { asset_id: string; asset_type: string }, blame: Blame): boolean {
    const { asset_id, asset_type } = asset
    if (asset_type === 'estate')
      return (
        this.estates.isKnown(asset_id) ||
        blame('asset_id', asset_id, 'is the id of no estate of the snapshot')
      )
    const cell = this.cells.ofText(asset_id)
    if (cell !== -1 && (this.hasParcel(cell) || this.someParcelUnknown)) return true
    return blame('asset_id', asset_id, 'is the id of no parcel of the snapshot')
  }

  private hasParcel(cell: number): boolean {
    return this.parcelLineAt.at(cell) !== 0 || this.brokenAt.at(cell) !== 0
  }

  private districtExists(id: string, field: string, blame: Blame): boolean {
    return this.districts.isKnown(id) || blame(field, id, 'is the id of no district of the snapshot')
  }
}

/** What is another one for each bid. A bid that is placed again in the same block has the same id, and another log. */
function bidName({ id, tx_hash, log_index }: BidRecord): string {
  return tx_hash === undefined || log_index === undefined ? id : `${id} ${tx_hash} ${log_index}`
}

function idOf(record: unknown): string | undefined {
  const id = typeof record === 'object' && record !== null && 'id' in record ? record.id : undefined
  return typeof id === 'string' ? id : undefined
}

/** Ids as numbers from 1, each with the line of its record once that has been read. */
class Names {
  someUnknown = false
  private readonly names: string[] = ['']
  private readonly numbers = new Map<string, number>()
  private readonly lines: number[] = [0]
  private readonly brokenIds = new Set<string>()

  numberOf(name: string): number {
    let number = this.numbers.get(name)
    if (number === undefined) {
      number = this.names.push(name) - 1
      this.lines.push(0)
      this.numbers.set(name, number)
    }
    return number
  }

  nameOf(number: number): string {
    return this.names[number] ?? ''
  }

  /** 0 when no record of this id has been read. */
  lineOf(name: string): number {
    return this.lines[this.numbers.get(name) ?? 0] ?? 0
  }

  /** The id's number; undefined when it has a record already. */
  add(name: string, line: number): number | undefined {
    const number = this.numberOf(name)
    if (this.lines[number] !== 0) return undefined
    this.lines[number] = line
    return number
  }

  addBroken(name: string | undefined): void {
    if (name === undefined) this.someUnknown = true
    else this.brokenIds.add(name)
  }

  isBroken(name: string): boolean {
    return this.brokenIds.has(name)
  }

  /** Whether a reference to it is accepted: there is such a record, or broken records make that unknown. */
  isKnown(name: string): boolean {
    return this.lineOf(name) !== 0 || this.brokenIds.has(name) || this.someUnknown
  }
}
