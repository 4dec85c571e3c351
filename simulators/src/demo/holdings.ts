import type { Random } from '../random.ts'
import { walletOfRank } from '../wallets.ts'
import type { CityPlan } from './city-plan.ts'
import type { Grid } from './grid.ts'

/** Connected lots that one person bought together. */
export interface Cluster {
  /** In the order in which they were added. */
  readonly cells: readonly number[]
  readonly holder: number
}

export interface Holdings {
  /** The addresses of all owners, those with most land first. */
  readonly people: readonly string[]
  readonly clusters: readonly Cluster[]
}

const UNSOLD_PERCENT = 2
/** With fewer lots than this, each person wants at least four: else no owner could offer two at once. */
const SMALL_CITY = 2000
const LARGEST_CLUSTER = 260

/** Shares the lots out: few people with much land near their homes, many with one or two parcels. */
export function shareOut(plan: CityPlan, random: Random): Holdings {
  const { grid, districtOf, inWorld, wild } = plan
  const lots = [...grid.all()].filter((cell) => inWorld[cell] && districtOf[cell] === -1 && !wild[cell])
  const people = Array.from({ length: Math.max(16, Math.floor((lots.length * 58) / 1000)) }, (_, rank) => {
    const address = random.address() // Always drawn: the same draws follow.
    return walletOfRank(rank)?.address ?? address
  })
  const free = new FreeLots(grid, lots)
  const clusters: Cluster[] = []
  for (let turn = 0; free.count > 0; turn++) {
    const holder = turn % people.length
    let wanted = turn < people.length ? demand(lots.length, holder) : random.between(1, 8)
    const homes = Array.from({ length: 1 + Math.min(5, Math.floor(wanted / 60)) }, () => random.pick(lots))
    while (wanted > 0 && free.count > 0) {
      const start = free.near(random.pick(homes), random)
      const size = Math.min(wanted, clusterSize(clusters.length, wanted, random))
      const cells = growCluster(grid, free, { start, size }, random)
      wanted -= cells.length
      if (cells.length > 2 || !random.chance(UNSOLD_PERCENT)) clusters.push({ cells, holder })
    }
  }
  return { people, clusters }
}

/** How many lots the person of this rank wants: hundreds for the first ones, one for the last ones of a large city. */
function demand(lots: number, rank: number): number {
  const least = lots < SMALL_CITY ? 4 : 1
  return Math.max(least, Math.floor((lots * 22) / (100 * (rank + 12))) - 3)
}

function clusterSize(already: number, wanted: number, random: Random): number {
  if (already === 0) return LARGEST_CLUSTER
  const draw = random.below(100)
  if (wanted >= 20 && draw < 5) return random.between(20, 99)
  if (wanted >= 11 && draw < 12) return random.between(11, 19)
  return draw < 18 ? 1 : random.between(3, 10)
}

/** Lots without an owner, in squares of eight by eight, to find one near a place. */
class FreeLots {
  count: number
  readonly #grid: Grid
  readonly #isFree: Uint8Array
  readonly #squares: number[][]
  readonly #columns: number

  constructor(grid: Grid, lots: readonly number[]) {
    this.#grid = grid
    this.#columns = Math.ceil(grid.side / 8)
    this.#isFree = new Uint8Array(grid.size)
    this.#squares = Array.from({ length: this.#columns * this.#columns }, () => [])
    for (const lot of lots) {
      this.#isFree[lot] = 1
      this.#squares[this.#column(lot) * this.#columns + this.#row(lot)]!.push(lot)
    }
    this.count = lots.length
  }

  has(cell: number): boolean {
    return this.#isFree[cell] === 1
  }

  take(cell: number): void {
    this.#isFree[cell] = 0
    this.count--
  }

  /** A free lot in the nearest square around a place that has one. @throws {RangeError} when none is left */
  near(place: number, random: Random): number {
    for (let away = 0; away < this.#columns; away++) {
      const squares = this.#squaresAt(place, away).filter((square) => this.#tidy(square).length > 0)
      if (squares.length > 0) return random.pick(this.#squares[random.pick(squares)]!)
    }
    throw new RangeError('all lots are taken')
  }

  #squaresAt(place: number, away: number): number[] {
    const found: number[] = []
    const column = this.#column(place)
    const row = this.#row(place)
    for (let c = Math.max(0, column - away); c <= Math.min(this.#columns - 1, column + away); c++) {
      for (let r = Math.max(0, row - away); r <= Math.min(this.#columns - 1, row + away); r++) {
        const isOnRim = Math.max(Math.abs(c - column), Math.abs(r - row)) === away
        if (isOnRim) found.push(c * this.#columns + r)
      }
    }
    return found
  }

  #tidy(square: number): number[] {
    const lots = this.#squares[square]!
    if (lots.length === 0) return lots
    const free = lots.filter((lot) => this.#isFree[lot] === 1)
    this.#squares[square] = free
    return free
  }

  #column(cell: number): number {
    return Math.floor((this.#grid.x(cell) + this.#grid.radius) / 8)
  }

  #row(cell: number): number {
    return Math.floor((this.#grid.y(cell) + this.#grid.radius) / 8)
  }
}

/** Takes free lots around a first one, near ones first: the shape stays compact. */
function growCluster(
  grid: Grid,
  free: FreeLots,
  { start, size }: { start: number; size: number },
  random: Random,
): number[] {
  const cells = [start]
  free.take(start)
  const frontier = new Map<number, number>()
  while (cells.length < size) {
    for (const next of grid.sides(cells.at(-1)!)) {
      if (!free.has(next) || frontier.has(next)) continue
      const dx = grid.x(next) - grid.x(start)
      const dy = grid.y(next) - grid.y(start)
      frontier.set(next, dx * dx + dy * dy + random.below(4))
    }
    let nearest = -1
    for (const [cell, distance] of frontier) {
      if (nearest === -1 || distance < frontier.get(nearest)!) nearest = cell
    }
    if (nearest === -1) break
    frontier.delete(nearest)
    free.take(nearest)
    cells.push(nearest)
  }
  return cells
}
