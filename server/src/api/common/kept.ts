/** The last few results, by name. */
export class Kept<Result> {
  private readonly results = new Map<string, Result>()
  private readonly limit: number

  constructor(limit: number) {
    this.limit = limit
  }

  get(name: string, make: () => Result): Result {
    const result = this.results.get(name) ?? make()
    this.results.delete(name)
    this.results.set(name, result)
    for (const oldest of this.results.keys()) {
      if (this.results.size <= this.limit) break
      this.results.delete(oldest)
    }
    return result
  }

  drop(name: string): void {
    this.results.delete(name)
  }
}
