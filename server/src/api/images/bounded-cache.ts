import { LRUCache } from 'lru-cache'

/** What an entry costs besides its name and its value: its place in the tables, and the headers of its objects. */
const ENTRY_BYTES = 512

/** Keeps values by name, as many as fit into a number of bytes: the one that was used longest ago goes first. */
export class BoundedCache<Value extends {}> {
  private readonly entries: LRUCache<string, Value>

  constructor(maxBytes: number) {
    this.entries = new LRUCache({ maxSize: maxBytes, maxEntrySize: maxBytes / 2 })
  }

  get(name: string): Value | undefined {
    return this.entries.get(name)
  }

  /** @param valueBytes what the value takes; one that is larger than half of the cache is not kept */
  set(name: string, value: Value, valueBytes: number): void {
    this.entries.set(name, value, { size: valueBytes + name.length + ENTRY_BYTES })
  }

  clear(): void {
    this.entries.clear()
  }

  /** All that is held, names included. */
  get bytes(): number {
    return this.entries.calculatedSize
  }

  get size(): number {
    return this.entries.size
  }
}
