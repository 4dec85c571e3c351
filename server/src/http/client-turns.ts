/** What waits for clients, which take turns: one thing of each, first come, first served. */
export class ClientTurns<Waiting> {
  /** The client whose turn is next comes first. */
  private readonly queues = new Map<string, Waiting[]>()
  private waiting = 0

  get size(): number {
    return this.waiting
  }

  add(client: string, one: Waiting): void {
    const queue = this.queues.get(client)
    if (queue) queue.push(one)
    else this.queues.set(client, [one])
    this.waiting++
  }

  /** The first of the client whose turn it is; undefined where nothing waits. */
  take(): Waiting | undefined {
    for (const [client, queue] of this.queues) {
      const next = queue.shift()
      this.queues.delete(client)
      if (queue.length > 0) this.queues.set(client, queue)
      this.waiting--
      return next
    }
    return undefined
  }

  /** Drops what waits for a client. */
  drop(client: string): void {
    this.waiting -= this.queues.get(client)?.length ?? 0
    this.queues.delete(client)
  }
}
