import type { KeyTime } from './token-key-queries.ts'

/** A time in which no key signs, in seconds. */
export interface KeyGap {
  readonly fromS: number
  /** When the next key begins; undefined: none does. */
  readonly untilS: number | undefined
}

/**
 * The first time from now on in which no key signs.
 *
 * @param times of keys that this server has; withdrawn ones do not sign
 * @example
 * findKeyGap([{ from_s: 0, until_s: 600, … }], 100) // { fromS: 600, untilS: undefined }
 */
export function findKeyGap(times: readonly KeyTime[], nowS: number): KeyGap | undefined {
  const ranges = times
    .filter(({ withdrawn_at_s }) => withdrawn_at_s === null)
    .map(({ from_s, until_s }) => ({ fromS: from_s, untilS: until_s ?? Number.POSITIVE_INFINITY }))
    .filter(({ fromS, untilS }) => fromS < untilS)
    .sort((a, b) => a.fromS - b.fromS)
  let coveredS = nowS
  for (const { fromS, untilS } of ranges) {
    if (fromS > coveredS) return { fromS: coveredS, untilS: fromS }
    coveredS = Math.max(coveredS, untilS)
  }
  return coveredS === Number.POSITIVE_INFINITY ? undefined : { fromS: coveredS, untilS: undefined }
}
