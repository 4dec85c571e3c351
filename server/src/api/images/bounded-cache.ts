/** What an entry costs besides its name and its value: the map's own record, and the headers of its objects. */
const ENTRY_BYTES = 512

interface Entry<Value> {
  readonly value: Value
  readonly bytes: number
}

/** Some entries, and what they take. */
class Generation<Value> {
  readonly entries = new Map<string, Entry<Value>>()
  bytes = 0

  add(name: string, entry: Entry<Value>): void {
    this.entries.set(name, entry)
    this.bytes += entry.bytes
  }

  take(name: string): Entry<Value> | undefined {
    const entry = this.entries.get(name)
    if (!entry) return undefined
    this.entries.delete(name)
    this.bytes -= entry.bytes
    return entry
  }
}

/**
 * Keeps values by name, as many as fit into a number of bytes. What is put in or asked for belongs to the young half;
 * when that is full it becomes the old half, and what nobody asked for meanwhile goes at once.
 *
 * (A single map in the order of use would move the entry that is asked for most, each time: V8 leaves a gap behind in
 * the same bucket and walks over all of them. With 18,000 pictures that cost more than everything else together.)
 */
export class BoundedCache<Value> {
  private readonly halfBytes: number
  private young = new Generation<Value>()
  private old = new Generation<Value>()

  constructor(maxBytes: number) {
    this.halfBytes = maxBytes / 2
  }

  get(name: string): Value | undefined {
    const known = this.young.entries.get(name)
    if (known) return known.value
    const entry = this.old.take(name)
    if (entry) this.addYoung(name, entry)
    return entry?.value
  }

  /** @param valueBytes what the value takes; one that is larger than half of the cache is not kept */
  set(name: string, value: Value, valueBytes: number): void {
    this.young.take(name)
    this.old.take(name)
    const bytes = valueBytes + name.length + ENTRY_BYTES
    if (bytes <= this.halfBytes) this.addYoung(name, { value, bytes })
  }

  clear(): void {
    this.young = new Generation()
    this.old = new Generation()
  }

  /** All that is held, names included. */
  get bytes(): number {
    return this.young.bytes + this.old.bytes
  }

  get size(): number {
    return this.young.entries.size + this.old.entries.size
  }

  private addYoung(name: string, entry: Entry<Value>): void {
    if (this.young.bytes + entry.bytes > this.halfBytes) {
      this.old = this.young
      this.young = new Generation()
    }
    this.young.add(name, entry)
  }
}
