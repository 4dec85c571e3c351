import { parseCoord } from '@landpass/client/grid'
import { AppError } from '../../errors.ts'
import type { ChangedAssets } from '../../land/changes/change-journal.ts'
import type { Registries } from '../../land/records/contracts.ts'
import { changedNames } from '../../state/differences/changed-names.ts'
import { type StateAt, stateAt, versionOf } from '../../state/differences/state-version.ts'
import { rowsOfEstate } from '../../state/parts/estate-members.ts'
import { NumberSet } from '../../state/parts/number-set.ts'
import type { SaleParts } from '../../state/parts/parts.ts'
import { compareSales } from '../../state/parts/sales.ts'
import type { State } from '../../state/state.ts'
import { assetNumber, nameOfNumber } from '../land/asset-numbers.ts'
import { findAssets } from '../land/land-find.ts'
import type { LandQuery } from '../land/land-query.ts'
import { type LandRow, landRow } from '../land/land-rows.ts'
import { type LandView, landViewOf } from '../land/land-view.ts'

/** What changes for searches of land between two states. */

/** A step that touches more assets is announced as `reset`. */
const MAX_TOUCHED = 5_000

/** The land at one time, as searches see it. */
export interface Moment {
  readonly at: StateAt
  readonly view: LandView
  /** When the next offer or rent ends: from then on it is another moment. */
  readonly endsAtMs: number
}

export function momentOf(state: State, registries: Registries, nowMs: number): Moment {
  const at = stateAt(state, nowMs)
  const view = landViewOf(state, registries, nowMs)
  const ends = [at.openOffers, view.offers, view.unlisted].map(({ nextExpiryMs }) => nextExpiryMs)
  return { at, view, endsAtMs: Math.min(...ends) }
}

/** Whether searches could find the same at both times. */
export function isSameMoment(before: Moment, { at, view: { nowMs } }: Moment): boolean {
  return before.at.state === at.state && before.view.nowMs <= nowMs && nowMs < before.endsAtMs
}

/** One moment, with the assets that the step may have changed, and rows that are made once for all searches. */
class Side {
  readonly view: LandView
  readonly touched: NumberSet
  private readonly state: State
  private readonly rows = new Map<number, { readonly row: LandRow; readonly text: string }>()

  constructor({ at, view }: Moment, names: Iterable<string>) {
    this.state = at.state
    this.view = view
    const numbers = Array.from(names, (name) => numberOf(view, name))
    this.touched = NumberSet.of(
      numbers.filter((number) => number >= 0),
      view.assets.count,
    )
  }

  row(asset: number): { readonly row: LandRow; readonly text: string } {
    const known = this.rows.get(asset)
    if (known) return known
    const row = landRow(this.view, asset)
    const made = { row, text: JSON.stringify(row) }
    this.rows.set(asset, made)
    return made
  }

  /** The numbers of the assets that match, by their names. @param isWhole whether all assets are looked at, or only the touched ones */
  async matches(query: LandQuery, isWhole: boolean): Promise<Map<string, number>> {
    const among = isWhole ? undefined : this.touched
    const found = await findAssets(this.state, this.view, query, among).catch((error: unknown) => {
      // The asset whose neighbours are searched for is not on the map at this time.
      if (error instanceof AppError && error.code === 'invalid_parameter') return new NumberSet(0)
      throw error
    })
    return new Map(Array.from(found.list(), (asset) => [nameOfNumber(this.view, asset), asset]))
  }
}

/** What a step changed for one search. */
export interface SearchDifference {
  /** Rows as they are now. */
  readonly began: readonly LandRow[]
  readonly changed: readonly LandRow[]
  /** `x,y`, or `estate:<id>`. */
  readonly ceased: readonly string[]
}

/** A step between two moments, which is compared with one search after the other. */
export class SearchStep {
  private readonly names: ReadonlySet<string>
  private readonly before: Side
  private readonly after: Side

  private constructor(before: Moment, after: Moment, names: ReadonlySet<string>) {
    this.names = names
    this.before = new Side(before, names)
    this.after = new Side(after, names)
  }

  /**
   * @param assets what changed between the two revisions
   * @returns undefined for one that touches more than {@link MAX_TOUCHED} assets
   */
  static between(before: Moment, after: Moment, assets: ChangedAssets): SearchStep | undefined {
    const names = touchedNames(before, after, assets)
    return names.size > MAX_TOUCHED ? undefined : new SearchStep(before, after, names)
  }

  /** @returns undefined where nothing has changed for the search */
  async differenceFor(query: LandQuery): Promise<SearchDifference | undefined> {
    if (this.names.size === 0) return undefined
    const { neighboursOf } = query
    // Its neighbours need not have changed themselves.
    const isWhole =
      neighboursOf !== undefined &&
      this.names.has(neighboursOf.type === 'estate' ? `estate:${neighboursOf.id}` : neighboursOf.id)
    const before = await this.before.matches(query, isWhole)
    const after = await this.after.matches(query, isWhole)
    const began: LandRow[] = []
    const changed: LandRow[] = []
    for (const [name, asset] of after) {
      const old = before.get(name)
      if (old === undefined) began.push(this.after.row(asset).row)
      else if (this.before.row(old).text !== this.after.row(asset).text)
        changed.push(this.after.row(asset).row)
    }
    const ceased = [...before.keys()].filter((name) => !after.has(name))
    return began.length + changed.length + ceased.length === 0 ? undefined : { began, changed, ceased }
  }
}

/** The names of all assets whose row, or whose match of any search but for neighbours, may have changed. */
function touchedNames(before: Moment, after: Moment, assets: ChangedAssets): ReadonlySet<string> {
  const parcels = new Set<string>()
  const estates = new Set<string>()
  const names = [
    namesOfChanges(before, { from: after, assets }),
    namesOfChanges(after, { from: before, assets }),
    soldBetween(before.at.state.parts.sales, after.at.state.parts.sales),
    unlistedEndedBetween(before, after),
  ]
  for (const named of names) {
    for (const name of named.parcels) parcels.add(name)
    for (const id of named.estates) estates.add(id)
  }
  const sides = [before.view, after.view]
  for (const view of sides)
    for (const name of parcels) {
      const parcel = numberOf(view, name) - view.assets.estates
      const estate = parcel < 0 ? -1 : view.parcels.estate[parcel]!
      if (estate >= 0) estates.add(view.estates.ids[estate]!)
    }
  // The parcels of an estate have its owner, its rents and its rights.
  for (const view of sides)
    for (const id of estates) {
      const estate = assetNumber(view, { type: 'estate', id })
      if (estate < 0) continue
      for (const row of rowsOfEstate(view.parcels.estate, estate))
        if (row < view.parcels.inWorld) parcels.add(nameOfNumber(view, view.assets.estates + row))
    }
  return new Set([...parcels, ...[...estates].map((id) => `estate:${id}`)])
}

interface Names {
  readonly parcels: Iterable<string>
  readonly estates: Iterable<string>
}

/** With the assets whose offers or rents ended between the two moments. */
function namesOfChanges(
  { at, view }: Moment,
  { from, assets }: { readonly from: Moment; readonly assets: ChangedAssets },
): Names {
  // All that ends between the two times, also an offer that no map shows because there is a newer one
  const now = { ...at, openOffers: { ...at.openOffers, lastExpiryMs: view.nowMs } }
  return changedNames(now, { ...versionOf(from.at), lastExpiryMs: from.view.nowMs }, assets)
}

/** The assets whose offers in dollars or to rent ended between the two moments. */
function unlistedEndedBetween(before: Moment, after: Moment): Names {
  const ended = after.at.state.parts.unlisted.filter(
    ({ expiresAtMs }) => before.view.nowMs < expiresAtMs && expiresAtMs <= after.view.nowMs,
  )
  const idsOf = (type: 'parcel' | 'estate') =>
    ended.filter(({ assetType }) => assetType === type).map(({ assetId }) => assetId)
  return { parcels: idsOf('parcel'), estates: idsOf('estate') }
}

/** The assets of sales that only one of two states has, or that have another price in the other one. */
function soldBetween(before: SaleParts, after: SaleParts): Names {
  const names = { parcels: new Set<string>(), estates: new Set<string>() }
  if (before === after) return names
  const add = (sales: SaleParts, sale: number) => {
    const estate = sales.estate[sale]!
    if (estate >= 0) names.estates.add(sales.estateIds[estate]!)
    else names.parcels.add(`${sales.x[sale]!},${sales.y[sale]!}`)
  }
  const [olds, news] = [before.key.length, after.key.length]
  for (let i = 0, j = 0; i < olds || j < news; ) {
    const order = i === olds ? 1 : j === news ? -1 : compareSales(before, i, after, j)
    if (order < 0) add(before, i++)
    else if (order > 0) add(after, j++)
    else {
      if (before.price[i] !== after.price[j]) add(after, j)
      i++
      j++
    }
  }
  return names
}

function numberOf(view: LandView, name: string): number {
  const id = name.startsWith('estate:') ? name.slice('estate:'.length) : undefined
  if (id !== undefined) return assetNumber(view, { type: 'estate', id })
  return parseCoord(name) ? assetNumber(view, { type: 'parcel', id: name }) : -1
}
