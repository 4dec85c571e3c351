import { LRUCache } from 'lru-cache'
import { SECOND_MS } from './clock.ts'
import { ownText } from './own-memory.ts'

/** Memory of an entry besides its name and value: its slot in the map, and object headers. */
const ENTRY_BYTES = 512

/**
 * A cache of values by name with a limit of bytes. The least recently used value is dropped first. Bytes in a value must be
 * its own (own-memory.ts), or it holds more than it counts.
 */
export class BoundedCache<Value extends {}> {
  private readonly entries: LRUCache<string, Value>

  /** @param ttlMs how long a value is cached; left out: until it is dropped */
  constructor(maxBytes: number, ttlMs?: number) {
    this.entries = new LRUCache({
      maxSize: maxBytes,
      maxEntrySize: maxBytes / 2,
      // By default a timer runs each millisecond
      ...(ttlMs !== undefined && { ttl: ttlMs, ttlResolution: Math.min(ttlMs / 100, SECOND_MS) }),
    })
  }

  get(name: string): Value | undefined {
    return this.entries.get(name)
  }

  /** As {@link get}, without counting as a use of the value. */
  peek(name: string): Value | undefined {
    return this.entries.peek(name)
  }

  /**
   * @param name of ASCII
   * @param valueBytes size of the value; one larger than half of the limit is not cached
   */
  set(name: string, value: Value, valueBytes: number): void {
    this.entries.set(ownText(name), value, { size: valueBytes + name.length + ENTRY_BYTES })
  }

  delete(name: string): void {
    this.entries.delete(name)
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
