/** Text that a server, a command or a database wrote, and which of them wrote it. */
export interface Output {
  readonly where: string
  readonly text: string
}

/** Up to eight letters and digits, like claim codes: these may occur inside a longer word by chance. */
const SHORT = /^[a-z0-9]{1,8}$/i
/** A number with a fraction is one word: six digits behind the point are no edit code. */
const WORDS = /\d+\.\d+|[a-z0-9]+/gi
const HEX_BYTES = /\\x[0-9a-f]+/g

/**
 * Finds secrets in outputs: short ones as whole words, in any letter case, longer ones as they are.
 *
 * @returns a sentence for each, without the secret, because many people can read the output of a test
 */
export function findSecrets(
  outputs: readonly Output[],
  secrets: ReadonlyMap<string, string>,
): readonly string[] {
  const entries = [...secrets]
  const short = new Map(
    entries.filter(([secret]) => SHORT.test(secret)).map(([s, what]) => [s.toLowerCase(), what]),
  )
  const long = entries.filter(([secret]) => !SHORT.test(secret))
  return outputs.flatMap(({ where, text }) => {
    const words = new Set(text.match(WORDS)?.map((word) => word.toLowerCase()))
    const found = [...words].flatMap((word) => short.get(word) ?? [])
    for (const [secret, what] of long) if (text.includes(secret)) found.push(what)
    return found.map((what) => `${what} in ${where}`)
  })
}

/** Rows of a database as text, with each value of a column of bytes also decoded as letters. */
export function withBytesAsText(rows: string): string {
  return rows.replace(HEX_BYTES, (hex) => `${hex} ${Buffer.from(hex.slice(2), 'hex').toString('latin1')}`)
}
