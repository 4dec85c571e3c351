/**
 * Whether this process is about to stop. From then on `/health/ready` answers 503, so that a balancer sends requests to
 * other processes, and connections close after their next answer. Everything is still answered.
 *
 * @example
 * const stopping = new Stopping()
 * stopping.isBegun // false
 * stopping.begin()
 * stopping.isBegun // true
 */
export class Stopping {
  private readonly listeners: (() => void)[] = []
  private hasBegun = false

  get isBegun(): boolean {
    return this.hasBegun
  }

  /** Calls the listeners the first time, and does nothing after that. */
  begin(): void {
    if (this.hasBegun) return
    this.hasBegun = true
    for (const listener of this.listeners) listener()
  }

  /** @param listener called when it begins */
  onBegin(listener: () => void): void {
    this.listeners.push(listener)
  }
}
