/**
 * What the page remembers between visits: choices of the reader, never a secret. A browser may forbid it; then nothing
 * is remembered and nothing else is lost.
 */
type StoredName = 'language' | 'theme' | 'mine'

export function readStored(name: StoredName): string | null {
  try {
    return localStorage.getItem(`landpass.${name}`)
  } catch {
    return null
  }
}

export function writeStored(name: StoredName, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(`landpass.${name}`)
    else localStorage.setItem(`landpass.${name}`, value)
  } catch {
    // Private windows of some browsers refuse to remember.
  }
}
