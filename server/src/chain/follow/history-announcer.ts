import { SECOND_MS } from '../../clock.ts'
import type { Db } from '../../db/engine.ts'
import { putHistoryNotice, removeHistoryNotice } from '../../land/changes/history-notice.ts'
import type { Network } from '../chain-types.ts'
import type { Timing } from '../rpc/timing.ts'
import { LEASE_MS } from './database-writer.ts'

/** How often the notice is renewed. What is announced is at most so old. */
const RENEW_EVERY_MS = 5 * SECOND_MS
const FIRST_PROGRESS = 'The history of the chain is being read.'

export interface HistoryAnnouncerOptions {
  readonly db: Db
  readonly network: Pick<Network, 'name' | 'chainId'>
  /** Names this process: see {@link newHolder}. */
  readonly holder: string
  readonly timing: Pick<Timing, 'pause'>
}

/**
 * Announces in the database that this process reads the history, and how far it is, so that every server can answer it. The
 * notice is renewed by a timer and not by progress: a range may be retried for longer than a lease.
 */
export class HistoryAnnouncer {
  private readonly options: HistoryAnnouncerOptions
  private progress = FIRST_PROGRESS

  constructor(options: HistoryAnnouncerOptions) {
    this.options = options
  }

  /** How far the history is, in words that everyone may read. They are announced with the next renewal. */
  update(progress: string): void {
    this.progress = progress
  }

  /**
   * Does the work, and announces it until it ends. A failure of the database is no failure of the work.
   *
   * @throws what `work` throws
   * @example
   * await announcer.during(() => chain.readHistory(options, (_, sentence) => announcer.update(sentence)))
   */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const ending = new AbortController()
    const announcing = this.announceUntil(ending.signal)
    try {
      return await work()
    } finally {
      ending.abort()
      await announcing
    }
  }

  private async announceUntil(signal: AbortSignal): Promise<void> {
    const { db, network, holder, timing } = this.options
    while (!signal.aborted) {
      const { name, chainId } = network
      const notice = { holder, network: name, chainId, progress: this.progress }
      // A database that fails is tried again with the next renewal, long before the lease ends.
      await putHistoryNotice(db, notice, LEASE_MS).catch(() => undefined)
      await timing.pause(RENEW_EVERY_MS, signal).catch(() => undefined)
    }
    await removeHistoryNotice(db, holder).catch(() => undefined)
  }
}
