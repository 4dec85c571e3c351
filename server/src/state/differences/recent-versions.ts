import { type StateVersion, versionText } from './state-version.ts'

/**
 * The last few states that this process has had. Clients can name any state as `since`; only those that this process
 * (or, shortly before its start, another one) has answered can be needed by many clients.
 */
export class RecentVersions {
  private readonly max: number
  private readonly texts = new Set<string>()
  private latest: string | undefined

  /** @param max how many versions are kept; the one that was noted first is dropped */
  constructor(max: number) {
    this.max = max
  }

  /**
   * Keeps the version of a current state. With the first one, the revisions before it are kept too: after a restart
   * nearly all clients have one of those.
   */
  note(version: StateVersion): void {
    const text = versionText(version)
    if (text === this.latest) return
    if (this.latest === undefined) {
      for (let back = Math.min(this.max - 1, version.revision); back > 0; back--)
        this.keep(versionText({ ...version, revision: version.revision - back }))
    }
    this.latest = text
    this.keep(text)
  }

  has(version: StateVersion): boolean {
    return this.texts.has(versionText(version))
  }

  private keep(text: string): void {
    this.texts.delete(text)
    this.texts.add(text)
    for (const oldest of this.texts) {
      if (this.texts.size <= this.max) return
      this.texts.delete(oldest)
    }
  }
}
