/** Collects the best results up to a limit, and counts all. */
export class TopResults<Result> {
  total = 0
  private readonly best: Result[] = []
  private readonly limit: number
  private readonly compare: (a: Result, b: Result) => number

  /** @param compare less than 0 where the first is the better one */
  constructor(limit: number, compare: (a: Result, b: Result) => number) {
    this.limit = limit
    this.compare = compare
  }

  add(result: Result): void {
    this.total += 1
    const { best, limit, compare } = this
    if (best.length === limit && compare(result, best[limit - 1]!) >= 0) return
    let index = best.length
    while (index > 0 && compare(result, best[index - 1]!) < 0) index -= 1
    best.splice(index, 0, result)
    if (best.length > limit) best.pop()
  }

  /** The best result first. */
  list(): readonly Result[] {
    return this.best
  }
}
