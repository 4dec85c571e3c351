/** Units of cost that a network address has spent. */
export type Spent = readonly [address: string, units: number]

/** Requests of a sender in the present window. */
export interface SharedCount {
  /** With the one that was counted. */
  readonly current: number
  /** Milliseconds until the window ends. */
  readonly ttl: number
}

/** What the processes that serve together (setting `WORKERS`) know of each other. A process that serves alone has no group. */
export interface WorkerGroup {
  /** The metrics of all processes, in the text format of Prometheus. */
  metrics(): Promise<string>
  /**
   * Counts a request, whichever process it reached.
   *
   * @param limit name of the limit
   * @param sender who is limited: an address, a player, an event
   * @param windowMs a window begins with the first request of a sender, and lasts so long
   */
  count(limit: string, sender: string, windowMs: number): Promise<SharedCount>
  /** Announces to the other processes what was spent in this one. */
  announceSpent(spent: readonly Spent[]): void
  /** Calls `take` with what was spent in another process. */
  onSpent(take: (spent: readonly Spent[]) => void): void
}
