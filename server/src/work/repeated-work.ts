/**
 * Work that is done again whenever it is asked for, and after the time that it says: never twice at a time, and always once more
 * after it was last asked for.
 *
 * @example
 * const work = new RepeatedWork(async () => (await announceAll(), 500))
 * work.start() // now, and then every 500 ms
 */
export class RepeatedWork {
  private readonly work: () => Promise<number | undefined>
  private running: Promise<void> | undefined
  private isAsked = false
  private timer: NodeJS.Timeout | undefined

  /** @param work never fails, and returns after how many milliseconds it has to be done again; undefined for when it is asked for */
  constructor(work: () => Promise<number | undefined>) {
    this.work = work
  }

  start(): void {
    this.isAsked = true
    this.running ??= Promise.resolve().then(() => this.run())
  }

  /** Resolves when no work runs. The caller goes on before the next begins. */
  async settled(): Promise<void> {
    while (this.running) await this.running
  }

  private async run(): Promise<void> {
    clearTimeout(this.timer)
    let nextMs: number | undefined
    while (this.isAsked) {
      this.isAsked = false
      nextMs = await this.work()
    }
    this.running = undefined
    if (nextMs !== undefined) this.timer = setTimeout(() => this.start(), nextMs).unref()
  }
}
