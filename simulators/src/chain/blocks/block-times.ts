/** Seconds between two blocks of today. */
export const SLOT_S = 12

const YEAR_S = 365 * 86_400
/** The history begins this long before its newest block. */
const HISTORY_S = 8 * YEAR_S
/** The newest blocks of the history follow each other as blocks do today. */
const RECENT_BLOCKS = 256
const RECENT_SHARE = 0.25
/** Spreads the times of blocks inside of their part of the history. */
const SPREAD = 2_654_435_761

/**
 * The time of a block of the history, in seconds since 1970. The years from 2018 on are in it, however few blocks it has,
 * so that rents and loans end in it.
 *
 * @param headTimeS time of block `historyBlocks`
 */
export function timeOfBlock(number: number, historyBlocks: number, headTimeS: number): number {
  const recent = Math.min(RECENT_BLOCKS, Math.floor(historyBlocks * RECENT_SHARE))
  const below = historyBlocks - number
  if (below <= recent) return headTimeS - below * SLOT_S
  const old = historyBlocks - recent
  const stepS = Math.max(SLOT_S, Math.floor((HISTORY_S - recent * SLOT_S) / old))
  const earliest = headTimeS - recent * SLOT_S - (old - number) * stepS
  return number === 0 ? earliest : earliest + ((number * SPREAD) % Math.max(1, stepS - 1))
}
