/**
 * Collects the numbers with the lowest keys, up to a size. Of equal keys the lowest numbers are kept.
 *
 * It is a binary heap: the root is the last of those that are kept, and children come before their parents.
 */
export class LowestKeys {
  /** The highest key that is kept; Infinity while there is room for more. */
  highest = Number.POSITIVE_INFINITY
  private count = 0
  private readonly keys: Float64Array
  private readonly numbers: Uint32Array

  constructor(size: number) {
    this.keys = new Float64Array(size)
    this.numbers = new Uint32Array(size)
  }

  /** @param number higher than all that were added before */
  add(key: number, number: number): void {
    if (this.count < this.keys.length) this.rise(key, number)
    else if (key < this.highest) this.sink(key, number)
    else return
    if (this.count === this.keys.length) this.highest = this.keys[0]!
  }

  /** The numbers that are kept, by key, then by number. */
  list(): number[] {
    const { keys, numbers, count } = this
    const places = Array.from({ length: count }, (_, place) => place)
    return places
      .sort((a, b) => (keys[a] === keys[b] ? numbers[a]! - numbers[b]! : keys[a]! - keys[b]!))
      .map((place) => numbers[place]!)
  }

  /** Adds one at the end, and moves it up to its place. */
  private rise(key: number, number: number): void {
    let at = this.count++
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (key < this.keys[parent]!) break
      this.put(at, this.keys[parent]!, this.numbers[parent]!)
      at = parent
    }
    this.put(at, key, number)
  }

  /** Puts one in the place of the root, and moves it down to its place. */
  private sink(key: number, number: number): void {
    const { keys, numbers } = this
    let at = 0
    for (let child = 1; child < keys.length; child = 2 * at + 1) {
      const other = child + 1
      const isOther =
        keys[other]! > keys[child]! || (keys[other] === keys[child] && numbers[other]! > numbers[child]!)
      if (isOther) child = other
      if (keys[child]! <= key) break
      this.put(at, keys[child]!, numbers[child]!)
      at = child
    }
    this.put(at, key, number)
  }

  private put(at: number, key: number, number: number): void {
    this.keys[at] = key
    this.numbers[at] = number
  }
}
