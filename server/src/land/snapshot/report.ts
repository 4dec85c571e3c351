import { ExactNumber } from '../records/exact-json.ts'
import type { Counts } from './format.ts'

/** How many errors a report shows; all are counted. */
const SHOWN_ERRORS = 20
const SHOWN_CHARACTERS = 80

/** One thing that is wrong with a snapshot. */
export interface SnapshotError {
  readonly file: string
  /** Counted from 1; null where the file as a whole is meant. */
  readonly line: number | null
  /** Such as `data.parcels[2].x`, shortened; null where the line as a whole is meant. */
  readonly field: string | null
  /** The value as JSON, shortened; null where there is none. */
  readonly value: string | null
  readonly reason: string
}

/** The result of an import or a check, successful or not. */
export interface ImportReport {
  readonly ok: boolean
  readonly dryRun: boolean
  /** Records read, by data set. */
  readonly counts: Readonly<Counts>
  /** The first {@link SHOWN_ERRORS} in the order in which they were met. */
  readonly errors: readonly SnapshotError[]
  readonly errorCount: number
  readonly errorsByFile: Readonly<Record<string, number>>
  /** Parcels of the setting `WORLD`. */
  readonly worldParcels: number
  /** Sentences about what an operator may not have meant; empty where there are errors. */
  readonly warnings: readonly string[]
  /** The new world; null when nothing was changed. */
  readonly worldId: number | null
  readonly revision: number | null
  readonly durationMs: number
}

/**
 * What to tell an operator about a snapshot without errors that has fewer parcels than the world.
 *
 * @example
 * coverageWarnings(25, 25) // []
 * coverageWarnings(20, 25) // ['The snapshot covers only part of WORLD: 20 of 25 parcels. The other 5 …']
 */
export function coverageWarnings(parcels: number, worldParcels: number): string[] {
  if (parcels >= worldParcels) return []
  const [has, all, missing] = [parcels, worldParcels, worldParcels - parcels].map((n) =>
    n.toLocaleString('en'),
  )
  return [
    `The snapshot covers only part of WORLD: ${has} of ${all} parcels. The other ${missing} are answered as not found.`,
  ]
}

/**
 * What to tell an operator about parcels that a chain names outside of the setting `WORLD`.
 *
 * @example
 * outsideWarnings(0) // []
 * outsideWarnings(2) // ['Parcels outside of WORLD: 2. They are answered by their coordinates and with their owners, …']
 */
export function outsideWarnings(parcels: number): string[] {
  if (parcels === 0) return []
  return [
    `Parcels outside of WORLD: ${parcels.toLocaleString('en')}. They are answered by their coordinates and with their owners, and no map shows them. To show them, make WORLD larger.`,
  ]
}

/** Holds the first errors and counts them all, so that a file of a million bad lines needs little memory. */
export class ErrorLog {
  readonly errors: SnapshotError[] = []
  readonly byFile: Record<string, number> = {}
  count = 0

  add(file: string, line: number | null, field: string | null, value: unknown, reason: string): void {
    this.count++
    this.byFile[file] = (this.byFile[file] ?? 0) + 1
    if (this.errors.length < SHOWN_ERRORS)
      this.errors.push({ file, line, field: shownField(field), value: shownValue(value), reason })
  }
}

/**
 * A value as a person may read it in an error, at most about 80 characters.
 *
 * @example
 * shownValue('a'.repeat(500)) // '"aaa…' (80 characters)
 */
function shownValue(value: unknown): string | null {
  const text = jsonText(value)
  return text === null ? null : shown(text)
}

/** A key of the file can be part of the field: of any length, and of any characters. */
function shownField(field: string | null): string | null {
  return field === null ? null : shown(field)
}

/** Shortened, and without characters that a terminal would obey. */
function shown(text: string): string {
  const escaped = text
    .slice(0, SHOWN_CHARACTERS + 1)
    .toWellFormed()
    .replace(CONTROLS, escapeOf)
  return escaped.length <= SHOWN_CHARACTERS
    ? escaped
    : `${escaped.slice(0, SHOWN_CHARACTERS - 1).toWellFormed()}…`
}

/** Control characters, and those that change the direction of a line or end it. */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** As JSON writes it: the characters beyond U+FFFF as two. */
function escapeOf(character: string): string {
  return Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('')
}

function jsonText(value: unknown): string | null {
  if (value === undefined) return null
  // A string may be four million characters long, an object thousands of levels deep: neither is worth writing out.
  if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_CHARACTERS))
  if (typeof value !== 'object' || value === null) return String(value)
  if (value instanceof ExactNumber) return value.text.slice(0, SHOWN_CHARACTERS)
  return Array.isArray(value)
    ? `[… ${value.length} items]`
    : `{${Object.keys(value).slice(0, 10).join(', ')}}`
}
