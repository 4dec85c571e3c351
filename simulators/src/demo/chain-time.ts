/**
 * Times of the demo world, all in seconds: the chain knows no smaller unit. Its present is fixed, because
 * the same seed has to give the same world on any day.
 */
export const DAY_S = 86_400
export const YEAR_S = 365 * DAY_S

/** Seconds since 1970 of a UTC date. */
export const dateS = (date: string): number => Date.parse(`${date}T00:00:00.000Z`) / 1000

export const PRESENT_S = dateS('2026-11-20')
export const AUCTION_END_S = dateS('2018-02-21')
export const MARKET_START_S = dateS('2018-03-19')
export const SECOND_MARKET_START_S = dateS('2018-10-12')
export const ESTATES_START_S = dateS('2018-10-24')
export const BIDS_START_S = dateS('2019-02-01')

const TURN_S = dateS('2022-09-15')
const TURN_BLOCK = 15_537_000

/** The block of a time: one every 14 seconds at first, every 12 from late 2022 on. */
export function blockAt(timeS: number): number {
  return TURN_BLOCK + Math.floor((timeS - TURN_S) / (timeS < TURN_S ? 14 : 12))
}

/** The time of the block that a time falls into: everything in one block has the same time. */
export function blockTimeS(timeS: number): number {
  return TURN_S + (blockAt(timeS) - TURN_BLOCK) * (timeS < TURN_S ? 14 : 12)
}

export const iso = (timeMs: number): string => new Date(timeMs).toISOString()

/**
 * Returns a function that gives the times at which rows were written: some time after their block, each later than
 * the one before, so that none occurs twice. Call it in order of block time.
 */
export function rowTimes(lagMs: () => number): (blockS: number) => string {
  let lastMs = 0
  return (blockS) => {
    lastMs = Math.max(lastMs + 1, blockS * 1000 + lagMs())
    return iso(lastMs)
  }
}
