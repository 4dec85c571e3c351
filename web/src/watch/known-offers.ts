import type { LandRow, SearchChange } from '@landpass/client'

/** What a search finds newest: as many rows as are remembered. */
export const KNOWN_ROWS = 100

/** What the reader knows of a search, and what is new. */
export interface Findings {
  /** The rows that the reader has seen, newest first, at most {@link KNOWN_ROWS}. Undefined before the first answer. */
  readonly known: readonly string[] | undefined
  /** Rows that the reader has not seen, newest first. */
  readonly news: readonly LandRow[]
}

/** When the newer one of its offers, to buy or to rent it, was made; 0 where it has none. */
function offeredAt({ offer, rental_offer: rental }: LandRow): number {
  return Math.max(offer?.listed_at ?? 0, rental?.listed_at ?? 0)
}

/** Names a row and its newest offer: a new offer for the same land is another row. */
function keyOf(row: LandRow): string {
  return `${offeredAt(row)}${keyEnd(row)}`
}

function keyEnd({ asset_type: type, asset_id: id }: LandRow): string {
  return ` ${type} ${id}`
}

function timeOf(key: string): number {
  return Number.parseInt(key, 10)
}

/**
 * Land that the search found before is new only with a newer offer than the known one. Where rows were left out, older ones than the oldest
 * known one, and land without offers, may have been among them: they are not new.
 */
function isNew(known: readonly string[], row: LandRow): boolean {
  const at = offeredAt(row)
  const end = keyEnd(row)
  if (known.some((key) => key.endsWith(end) && timeOf(key) >= at)) return false
  return known.length < KNOWN_ROWS || (at > 0 && at >= timeOf(known.at(-1)!))
}

/** After a whole answer. @param rows the newest {@link KNOWN_ROWS} rows, newest first. What a first answer has is known. */
export function afterAnswer({ known }: Findings, rows: readonly LandRow[]): Findings {
  if (known === undefined) return { known: rows.map(keyOf), news: [] }
  return { known, news: rows.filter((row) => isNew(known, row)) }
}

/** After an event of the search (docs/changes.md). */
export function afterChange(
  { known = [], news }: Findings,
  { began, changed, ceased }: Extract<SearchChange, { kind: 'change' }>,
): Findings {
  const touched = [...began, ...changed]
  const gone = new Set([...ceased, ...touched.map(nameOf)])
  const added = touched.filter((row) => isNew(known, row))
  return { known, news: [...added, ...news.filter((row) => !gone.has(nameOf(row)))].slice(0, KNOWN_ROWS) }
}

/** After the reader has seen what is new. */
export function afterSeen({ known = [], news }: Findings): Findings {
  const all = [...news.map(keyOf), ...known].sort((a, b) => timeOf(b) - timeOf(a))
  return { known: all.slice(0, KNOWN_ROWS), news: [] }
}

/** As `ceased` has it. */
export function nameOf({ asset_type: type, asset_id: id }: LandRow): string {
  return type === 'estate' ? `estate:${id}` : id
}
