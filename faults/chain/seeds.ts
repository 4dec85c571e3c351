/** What a seed is run with. */
export interface SeedKind {
  readonly followers: 1 | 2
  readonly engine: 'postgres' | 'embedded'
}

/** One or two followers on one of both engines: all four pairs in four seeds that follow each other. */
export function kindOf(seed: number): SeedKind {
  return { followers: seed % 2 === 0 ? 1 : 2, engine: seed % 4 < 2 ? 'postgres' : 'embedded' }
}

export interface TestSeed {
  readonly seed: number
  /** As few as show what the seed is kept for. */
  readonly blocks: number
  readonly why: string
}

/**
 * The seeds of `npm test`. A seed that `npm run faults -- chain` prints as broken is added here, with the number of blocks that
 * it needs to be broken, and stays after the fault is mended.
 */
export const TEST_SEEDS: readonly TestSeed[] = [
  { seed: 109, blocks: 30, why: 'two followers on PostgreSQL' },
  { seed: 110, blocks: 15, why: 'one follower on the embedded engine' },
  { seed: 5036, blocks: 1, why: 'a node without the first blocks was asked for a part of the history' },
]
