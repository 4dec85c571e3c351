/**
 * Choices of the reader, and the names of their events, that the browser stores between visits; a secret only in `codes`, edit
 * codes that the organiser wants kept on the device. Where the browser forbids storage, they last until the page is closed.
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

/** The text of a list that several tabs change: each begins with what was stored last. */
export function sharedText(name: StoredName) {
  /** What is stored although the list of this tab is newer: nothing before it was stored, or an older text where the browser takes no more. */
  let outdated: string | null | undefined = null
  return {
    /** What any tab has stored last, null for an empty list; undefined where the list of this tab is newer. */
    read(): string | null | undefined {
      const text = readStored(name)
      if (text === outdated) return undefined
      outdated = undefined
      return text
    },
    /** @param text undefined for an empty list */
    write(text: string | undefined): void {
      writeStored(name, text)
      const kept = readStored(name)
      outdated = kept === text ? undefined : kept
    },
  }
}
