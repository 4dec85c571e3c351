import { LRUCache } from 'lru-cache'

/** Memory of an entry besides its name and value: its slot in the map, and object headers. */
const ENTRY_BYTES = 512

/** A cache of values by name with a limit of bytes. The least recently used value is dropped first. */
export class BoundedCache<Value extends {}> {
  private readonly entries: LRUCache<string, Value>

  constructor(maxBytes: number) {
    this.entries = new LRUCache({ maxSize: maxBytes, maxEntrySize: maxBytes / 2 })
  }

  get(name: string): Value | undefined {
    return this.entries.get(name)
  }

  has(name: string): boolean {
    return this.entries.has(name)
  }

  /** @param valueBytes size of the value; one larger than half of the limit is not cached */
  set(name: string, value: Value, valueBytes: number): void {
    this.entries.set(name, value, { size: valueBytes + name.length + ENTRY_BYTES })
  }

  clear(): void {
    this.entries.clear()
  }

  /** Bytes of all entries, including their names. */
  get bytes(): number {
    return this.entries.calculatedSize
  }

  get size(): number {
    return this.entries.size
  }
}
