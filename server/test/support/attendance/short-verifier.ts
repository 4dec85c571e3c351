import { readFileSync } from 'node:fs'

const FILE = new URL('../../../../../docs/examples/token-verifier.mjs', import.meta.url)

/** `isSignedBy` of docs/examples/token-verifier.mjs, with its code. */
export interface ShortVerifier {
  readonly code: string
  readonly isSignedBy: (issuer: string, trusted: object, pack: object) => boolean
}

export async function readShortVerifier(): Promise<ShortVerifier> {
  const { isSignedBy } = await import(FILE.href)
  return { code: readFileSync(FILE, 'utf8'), isSignedBy }
}

/** The short verifier throws for packages of another form. */
export function answerOf(question: () => boolean): boolean {
  try {
    return question()
  } catch {
    return false
  }
}
