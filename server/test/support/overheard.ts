/** What a server, a command or a database said, and which of them. */
export interface Heard {
  readonly where: string
  readonly text: string
}

/** Up to eight letters and digits, like claim codes: these may stand inside a longer word by chance. */
const SHORT = /^[a-z0-9]{1,8}$/i
/** A number with a fraction is one word: six digits behind the point are no edit code. */
const WORDS = /\d+\.\d+|[a-z0-9]+/gi
const HEX_BYTES = /\\x[0-9a-f]+/g

/**
 * Where secrets stand in what was heard: short ones as whole words, in any letter case, longer ones as they are.
 *
 * @returns a sentence for each, without the secret, for a test's output is read by others too
 */
export function findSecrets(
  heard: readonly Heard[],
  secrets: ReadonlyMap<string, string>,
): readonly string[] {
  const entries = [...secrets]
  const short = new Map(
    entries.filter(([secret]) => SHORT.test(secret)).map(([s, what]) => [s.toLowerCase(), what]),
  )
  const long = entries.filter(([secret]) => !SHORT.test(secret))
  return heard.flatMap(({ where, text }) => {
    const words = new Set(text.match(WORDS)?.map((word) => word.toLowerCase()))
    const found = [...words].flatMap((word) => short.get(word) ?? [])
    for (const [secret, what] of long) if (text.includes(secret)) found.push(what)
    return found.map((what) => `${what} in ${where}`)
  })
}

/** Rows as a database writes them as text: what stands in columns of bytes is read as letters too. */
export function withBytesAsText(rows: string): string {
  return rows.replace(HEX_BYTES, (hex) => `${hex} ${Buffer.from(hex.slice(2), 'hex').toString('latin1')}`)
}
