import { fromHex, LogDay, NO_LOG_ROOT, toHex } from '@landpass/client/tokens'
import { type Clock, DAY_MS } from '../../../../clock.ts'
import type { Db } from '../../../../db/engine.ts'
import { lastRoot, noteTokens, readLog, storeRoot } from './token-log-queries.ts'

/** Rows of one statement: between two of them other requests run. */
const BATCH = 1_000

/**
 * The public log of all tokens: rows are only added, in an order without gaps, and each day that has entries gets a Merkle
 * root over them and the root before. After a key was stolen, the log shows which of its tokens existed before.
 */
export class TokenLog {
  private readonly db: Db
  private readonly clock: Clock
  constructor({ db, clock }: { readonly db: Db; readonly clock: Clock }) {
    this.db = db
    this.clock = clock
  }

  /** Notes signed tokens, after the roots of days that are over. Several processes may call it at the same time. */
  async update(): Promise<void> {
    const nowMs = this.clock.nowMs()
    await this.endDays(nowMs)
    while ((await noteTokens(this.db, { nowMs, limit: BATCH })) === BATCH);
  }

  /** The last root, made if its day is over. Undefined before the first day has ended. */
  async root(): Promise<
    { readonly day: string; readonly leaves: number; readonly root: string } | undefined
  > {
    await this.update()
    const last = await lastRoot(this.db)
    return (
      last && {
        day: dayText(last.day),
        leaves: last.leaves,
        root: toHex(last.root),
      }
    )
  }

  private async endDays(nowMs: number): Promise<void> {
    const today = dayOf(nowMs)
    for (;;) {
      const last = await lastRoot(this.db)
      const from = last?.leaves ?? 0
      const [first] = await readLog(this.db, { from, limit: 1 })
      if (!first || dayOf(first.noted_at_ms) >= today) return
      const day = dayOf(first.noted_at_ms)
      const previous = last ? toHex(last.root) : NO_LOG_ROOT
      const { leaves, root } = await this.treeOf(day, from, previous)
      const isStored = await storeRoot(this.db, { day, leaves, root: Buffer.from(fromHex(root)) }, { nowMs })
      if (!isStored) return // another process has written meanwhile: next time
    }
  }

  /** The tree of a day, whose entries begin at a position. */
  private async treeOf(
    day: number,
    from: number,
    previous: string,
  ): Promise<{ readonly leaves: number; readonly root: string }> {
    const tree = new LogDay(previous)
    for (let at = from; ; ) {
      const entries = await readLog(this.db, { from: at, limit: BATCH })
      const ofDay = entries.filter(({ noted_at_ms }) => dayOf(noted_at_ms) === day)
      for (const { uid, signer } of ofDay) tree.add({ uid: toHex(uid), signer })
      at += ofDay.length
      if (ofDay.length < BATCH) return { leaves: at, root: tree.root() }
    }
  }
}

/** `YYYY-MM-DD` of a number of days since 1970. */
export function dayText(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}

function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS)
}
