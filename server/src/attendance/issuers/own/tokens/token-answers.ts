import { LRUCache } from 'lru-cache'
import { BoundedCache } from '../../../../bounded-cache.ts'
import { SECOND_MS } from '../../../../clock.ts'
import type { ReadyAnswer } from '../../../../http/ready-answers.ts'
import { ownBytes, ownText } from '../../../../own-memory.ts'

/** How long the answer "has a token" is in memory. It changes only when the token is revoked; clients keep it for a minute. */
const GATE_MS = 10 * SECOND_MS
/** Some ten thousand answers. */
const MAX_GATE_BYTES = 16_000_000
/** Memory of an answer besides its body: its headers. */
const HEAD_BYTES = 1_000
/** How long a page of a collection is in memory: requests within this time share one query, and its bytes. */
const PAGE_MS = SECOND_MS
const MAX_PAGE_BYTES = 16_000_000
/** Memory of a page besides its bytes. */
const PAGE_ENTRY_BYTES = 1_000

const GATE_ADDRESS = /^\/events\/[^/?]+\/holders\/0[xX][0-9a-fA-F]{40}$/

/**
 * Caches answers that are requested often: those of gates to addresses with a token, for ten seconds, and pages of collections,
 * for one second. Entries expire by the monotonic clock of the process.
 */
export class TokenAnswers {
  private timesForgotten = 0
  private readonly gates = new BoundedCache<ReadyAnswer>(MAX_GATE_BYTES, GATE_MS)
  private readonly pages = new LRUCache<string, Buffer, () => Promise<Buffer>>({
    maxSize: MAX_PAGE_BYTES,
    sizeCalculation: ({ length }, name) => length + name.length + PAGE_ENTRY_BYTES,
    ttl: PAGE_MS,
    // Else requests that wait for a page fail when the cache is emptied, or full
    ignoreFetchAbort: true,
    fetchMethod: async (_name, _stale, { context: read }) => ownBytes(await read()),
  })

  /** The number of {@link forget} calls so far. Read it before the query of a token, and pass it to {@link keepGate}. */
  get forgotten(): number {
    return this.timesForgotten
  }

  /**
   * Keeps the answer of a gate to an address that has a token, unless a token was revoked since it was read.
   *
   * @param url as it was requested
   */
  keepGate(url: string, answer: ReadyAnswer, forgotten: number): void {
    if (forgotten !== this.timesForgotten || !GATE_ADDRESS.test(url)) return
    const body = ownBytes(answer.body)
    this.gates.set(url, { ...answer, body }, body.length + HEAD_BYTES)
  }

  /** The ready answer of a gate. */
  findGate(url: string): ReadyAnswer | undefined {
    return url.startsWith('/events/') ? this.gates.get(url) : undefined
  }

  /** The bytes of a page, at most a second old. @param name of ASCII @throws what `read` throws: a failure is not kept */
  async page(name: string, read: () => Promise<Buffer>): Promise<Buffer> {
    return (await this.pages.fetch(ownText(name), { context: read })) ?? read()
  }

  /** After a token was revoked. */
  forget(): void {
    this.timesForgotten += 1
    this.gates.clear()
    this.pages.clear()
  }
}
