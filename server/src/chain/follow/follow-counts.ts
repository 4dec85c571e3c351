/** What was done since the start of this process. */
export class FollowCounts {
  blocks = 0
  logs = 0
  /** Reorganisations by the number of blocks that were undone. */
  readonly undone = new Map<number, number>()
  /** Blocks whose logs were other ones at their finality than when they were new. */
  repaired = 0
  /** Second looks whose answers contradicted what was proven. */
  failedLooks = 0

  /** @param depth blocks that were undone; 0 is no reorganisation */
  noteUndone(depth: number): void {
    if (depth > 0) this.undone.set(depth, (this.undone.get(depth) ?? 0) + 1)
  }
}
