/** The index of each text of a list. */
export interface Positions {
  get(text: string): number | undefined
  has(text: string): boolean
}

/** Cached per list, because most states share their lists with the state before. */
const known = new WeakMap<readonly string[], ListPositions>()

/** The index of each text in a list, which must not be changed after this call. */
export function positionsOf(texts: readonly string[]): Positions {
  return listPositionsOf(texts)
}

/**
 * A list with more texts at its end: those that it does not have yet, each once. The same list where it has all of them.
 *
 * The positions of both lists are one map, to which the new texts are added: a block with a new owner need not look up the owners
 * of all the land again.
 */
export function withTexts(texts: readonly string[], wanted: Iterable<string>): readonly string[] {
  const positions = listPositionsOf(texts)
  const more = new Set<string>()
  for (const text of wanted) if (!positions.has(text)) more.add(text)
  if (more.size === 0) return texts
  const longer = texts.concat([...more])
  const extended = positions.extendedTo(longer)
  if (extended) known.set(longer, extended)
  return longer
}

function listPositionsOf(texts: readonly string[]): ListPositions {
  const found = known.get(texts)
  if (found) return found
  const places = new Map<string, number>()
  for (let place = 0; place < texts.length; place++) places.set(texts[place]!, place)
  const positions = new ListPositions(places, texts.length)
  known.set(texts, positions)
  return positions
}

/** The positions in a list of `count` texts. The map may have texts of longer lists, which begin with the same texts. */
class ListPositions implements Positions {
  private readonly places: Map<string, number>
  private readonly count: number

  constructor(places: Map<string, number>, count: number) {
    this.places = places
    this.count = count
  }

  get(text: string): number | undefined {
    const place = this.places.get(text)
    return place !== undefined && place < this.count ? place : undefined
  }

  has(text: string): boolean {
    return this.get(text) !== undefined
  }

  /** @returns undefined where another list has extended the map before, or a text stands in the list twice */
  extendedTo(longer: readonly string[]): ListPositions | undefined {
    if (this.places.size !== this.count) return undefined
    for (let place = this.count; place < longer.length; place++) this.places.set(longer[place]!, place)
    return new ListPositions(this.places, longer.length)
  }
}
