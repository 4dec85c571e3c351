import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../../..', import.meta.url))

/** `isSignedBy` of docs/tokens.md, with its code. */
export interface ShortVerifier {
  readonly code: string
  readonly isSignedBy: (issuer: string, trusted: object, pack: object) => boolean
}

/** The verifier of docs/tokens.md as it stands there. */
export async function readShortVerifier(): Promise<ShortVerifier> {
  const docs = readFileSync(join(ROOT, 'docs/tokens.md'), 'utf8')
  const [, code = ''] = /## A verifier in 30 lines[\s\S]*?```js\n([\s\S]*?)```/.exec(docs) ?? []
  // Below the project, so that it finds its packages
  const folder = mkdtempSync(join(ROOT, 'server/dist/verifier-'))
  try {
    const path = join(folder, 'verifier.mjs')
    writeFileSync(path, code)
    const { isSignedBy } = await import(pathToFileURL(path).href)
    return { code, isSignedBy }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The short verifier throws for packages of another form. */
export function answerOf(question: () => boolean): boolean {
  try {
    return question()
  } catch {
    return false
  }
}
