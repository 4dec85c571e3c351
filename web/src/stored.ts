/**
 * Choices of the reader, and the names of their events, that the browser stores between visits; a secret only in `codes`, edit
 * codes that the organiser wants kept on the device. Where the
 * browser forbids storage, they last until the page is closed.
 */
type StoredName = 'language' | 'theme' | 'mine' | 'events' | 'codes' | 'welcomed' | 'watched' | 'notify'

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
    // Some browsers refuse storage in private windows.
  }
}
