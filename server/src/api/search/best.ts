/** The best few of many things, and how many there were. */
export class Best<Thing> {
  total = 0
  private readonly kept: Thing[] = []
  private readonly limit: number
  private readonly compare: (a: Thing, b: Thing) => number

  /** @param compare less than 0 where the first is the better one */
  constructor(limit: number, compare: (a: Thing, b: Thing) => number) {
    this.limit = limit
    this.compare = compare
  }

  add(thing: Thing): void {
    this.total += 1
    const { kept, limit, compare } = this
    if (kept.length === limit && compare(thing, kept[limit - 1]!) >= 0) return
    let place = kept.length
    while (place > 0 && compare(thing, kept[place - 1]!) < 0) place -= 1
    kept.splice(place, 0, thing)
    if (kept.length > limit) kept.pop()
  }

  /** The best first. */
  list(): readonly Thing[] {
    return this.kept
  }
}
