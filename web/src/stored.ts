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
export class SharedText {
  private readonly name: StoredName
  /** What the browser has stored although it is older than the list, because it takes nothing more. */
  private outdated: string | null = null

  constructor(name: StoredName) {
    this.name = name
  }

  /** What any tab has stored last; null where nothing is stored, or only what is older than the list of this tab. */
  read(): string | null {
    const text = readStored(this.name)
    return text === this.outdated ? null : text
  }

  /** @param text null for an empty list */
  write(text: string | null): void {
    writeStored(this.name, text ?? undefined)
    const kept = readStored(this.name)
    this.outdated = kept === text ? null : kept
  }
}
