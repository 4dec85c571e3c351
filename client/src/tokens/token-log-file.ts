import { isAddress, sameAddress } from './address.ts'
import { isHex } from './bytes.ts'
import { fieldsOf, readTimeMs } from './json.ts'
import { LogDay, NO_LOG_ROOT } from './token-log.ts'

/** What a log says about a token. */
export interface LogQuestion {
  /** The address that signed the token. */
  readonly signer: string
  /** When its key was withdrawn, in seconds since 1970: entries from then on do not count. */
  readonly before: number
}

/** A log whose roots belong to its entries. */
export interface CheckedLog {
  /** How many entries count. */
  readonly entries: number
  /** For `isLogged` of `verifyToken`. */
  readonly isLogged: (uid: string, question: LogQuestion) => boolean
}

interface Entry {
  readonly position: number
  readonly uid: string
  readonly signer: string
  /** In seconds. */
  readonly notedAt: number
}

interface Root {
  readonly leaves: number
  readonly root: string
}

/**
 * Reads saved answers of `GET /tokens/log`, from the first entry on without gaps, and computes their roots anew.
 *
 * With a root that you know from before the theft (kept, or from a chain), the entries up to it count, whatever times the
 * file names. Without one, an entry counts by the time that the file names: that is as good as the place it came from.
 *
 * @param answers parsed JSON, in any order; answers may overlap
 * @returns undefined where entries are missing or changed, a root does not belong to them, or none is the known one
 */
export function readTokenLog(
  answers: readonly unknown[],
  { root: known }: { readonly root?: string } = {},
): CheckedLog | undefined {
  const pages = answers.map(readPage)
  if (pages.some((page) => page === undefined)) return undefined
  const entries = new Map<number, Entry>()
  for (const entry of pages.flatMap((page) => page!.entries)) {
    const other = entries.get(entry.position)
    if (other && !isSame(other, entry)) return undefined
    entries.set(entry.position, entry)
  }
  const roots = pages.flatMap((page) => page!.roots).sort((a, b) => a.leaves - b.leaves)
  const sorted = Array.from({ length: entries.size }, (_, position) => entries.get(position))
  if (sorted.some((entry) => entry === undefined) || !areRootsOf(roots, sorted as readonly Entry[]))
    return undefined
  const end = known === undefined ? undefined : roots.find(({ root }) => root === known.toLowerCase())
  if (known !== undefined && !end) return undefined
  return checkedLog(sorted.slice(0, end?.leaves) as readonly Entry[], end !== undefined)
}

/**
 * The entries of one answer of `GET /tokens/log`, whose roots are not computed: they count by the times that the server
 * names. For a page that believes its server, and asks it about a single token.
 *
 * @param answer parsed JSON
 * @returns undefined for another value
 */
export function readLogAnswer(answer: unknown): CheckedLog | undefined {
  const page = readPage(answer)
  return page && checkedLog(page.entries, false)
}

function checkedLog(entries: readonly Entry[], isProven: boolean): CheckedLog {
  const byUid = new Map(entries.map((entry) => [`${entry.uid} ${entry.signer}`, entry]))
  return {
    entries: entries.length,
    isLogged: (uid, { signer, before }) => {
      const entry = byUid.get(`${uid.toLowerCase()} ${signer.toLowerCase()}`)
      return entry !== undefined && (isProven || entry.notedAt < before)
    },
  }
}

/** Each root is one over the entries since the root before, and that root. A root may occur twice. */
function areRootsOf(roots: readonly Root[], entries: readonly Entry[]): boolean {
  let [from, previous] = [0, NO_LOG_ROOT]
  for (const { leaves, root } of roots) {
    if (leaves === from && root === previous) continue
    if (leaves <= from || leaves > entries.length) return false
    const day = new LogDay(previous)
    for (const entry of entries.slice(from, leaves)) day.add(entry)
    if (day.root() !== root) return false
    from = leaves
    previous = root
  }
  return true
}

function readPage(value: unknown): { entries: readonly Entry[]; roots: readonly Root[] } | undefined {
  const answer = fieldsOf(value)
  const { entries, roots } = fieldsOf(answer?.data) ?? answer ?? {}
  if (!Array.isArray(entries) || !Array.isArray(roots)) return undefined
  const read = { entries: entries.map(readEntry), roots: roots.map(readRoot) }
  const isWhole = [...read.entries, ...read.roots].every((part) => part !== undefined)
  return isWhole ? (read as { entries: readonly Entry[]; roots: readonly Root[] }) : undefined
}

function readEntry(value: unknown): Entry | undefined {
  const { position, uid, signer, noted_at: notedAt } = fieldsOf(value) ?? {}
  const timeMs = readTimeMs(notedAt)
  if (!isCount(position) || !isHex(uid, 32) || !isAddress(signer) || timeMs === undefined) return undefined
  return { position, uid: uid.toLowerCase(), signer: signer.toLowerCase(), notedAt: timeMs / 1000 }
}

function readRoot(value: unknown): Root | undefined {
  const { leaves, root } = fieldsOf(value) ?? {}
  return isCount(leaves) && isHex(root, 32) ? { leaves, root: root.toLowerCase() } : undefined
}

function isSame(one: Entry, other: Entry): boolean {
  return one.uid === other.uid && sameAddress(one.signer, other.signer) && one.notedAt === other.notedAt
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
