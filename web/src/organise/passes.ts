import type { OrganiserPass } from '@landpass/client'

const PREFIX = 'landpass.pass.'

/**
 * The passes of this browser, by event: with one, wrong edit codes of others do not lock the organiser out. A pass gives
 * no right and is no edit code, which is never stored. Where the browser forbids storage, there are none.
 *
 * @param eventId the issuer's number
 */
export function passOf(eventId: string): string | undefined {
  // Also an expired one: the clock of this device may be wrong, and the server ignores it
  return read(PREFIX + eventId).pass
}

/** Stores a pass, and deletes those that have expired. */
export function keepPass(eventId: string, { pass, expires_at }: OrganiserPass): void {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX) && !(read(name).untilMs > Date.now())) localStorage.removeItem(name)
    }
    localStorage.setItem(PREFIX + eventId, `${expires_at} ${pass}`)
  } catch {
    // Some browsers refuse storage in private windows.
  }
}

function read(name: string): { readonly untilMs: number; readonly pass: string | undefined } {
  try {
    const [expiresAt = '', pass] = localStorage.getItem(name)?.split(' ') ?? []
    return { untilMs: Date.parse(expiresAt), pass }
  } catch {
    return { untilMs: Number.NaN, pass: undefined }
  }
}
