/** What a log of requests comes to. */
export interface RequestLog {
  /** Paths with their queries, each once, in the order of the log, with how often it stands there. */
  readonly reads: ReadonlyMap<string, number>
  /** Lines with another method than GET: sending them again could change something. */
  readonly otherMethods: number
  /** Lines that name no request. */
  readonly unreadable: number
  /** Lines beyond the first {@link MAX_READS} different reads. */
  readonly beyond: number
}

/** Different reads of one comparison. */
export const MAX_READS = 10_000
/** Longer ones are no requests that a server answers. */
const MAX_PATH_CHARS = 8_192

/** `"GET /v2/tiles?x1=1 HTTP/1.1"` in a line of a common access log. */
const REQUEST_LINE = /"([A-Z]+) (\S+) HTTP\/[\d.]+"/
/** The whole line: a path or an address, perhaps after a method. */
const BARE = /^(?:([A-Z]+) )?(?:https?:\/\/[^/\s]+)?(\/\S*)$/

/**
 * Reads lines of an access log (common or combined format), or paths and addresses, one a line.
 *
 * @example
 * (await readRequestLog(['1.2.3.4 - - [05/Mar/2027:20:33:20 +0000] "GET /v2/tiles?x1=1 HTTP/1.1" 200 12'])).reads
 * // Map { '/v2/tiles?x1=1' => 1 }
 */
export async function readRequestLog(lines: AsyncIterable<string> | Iterable<string>): Promise<RequestLog> {
  const reads = new Map<string, number>()
  let [otherMethods, unreadable, beyond] = [0, 0, 0]
  for await (const line of lines) {
    if (line.trim() === '') continue
    const [, method = 'GET', path] = REQUEST_LINE.exec(line) ?? BARE.exec(line.trim()) ?? []
    if (path === undefined || path.length > MAX_PATH_CHARS || !isBelowBase(path)) unreadable++
    else if (method !== 'GET') otherMethods++
    else if (reads.has(path) || reads.size < MAX_READS) reads.set(path, (reads.get(path) ?? 0) + 1)
    else beyond++
  }
  return { reads, otherMethods, unreadable, beyond }
}

/** Whether it stays below the base address of a server: `/../x` would leave it. */
function isBelowBase(path: string): boolean {
  const base = 'http://server.invalid/base'
  return path.startsWith('/') && URL.canParse(base + path) && new URL(base + path).href.startsWith(`${base}/`)
}
