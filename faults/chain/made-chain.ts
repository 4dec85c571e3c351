import type { SimulatedChain } from '@landpass/simulators/chain/blocks/chain'
import type { Random } from '@landpass/simulators/random'

const DEEP_PERCENT = 2
const REORGANISED_PERCENT = 5
/** Rents, loans and listings end while no block is made. */
const LONG_PAUSE_PERCENT = 3
const DAY_S = 86_400
const SHALLOW_BLOCKS = 8
const DEEPEST_BLOCKS = 64
const KEPT_SHARES = [0, 0.5, 0.8, 0.8, 1] as const

/** How the chain goes on: block by block, with reorganisations that never reach below the last final block. */
export class MadeChain {
  /** How often it went on. */
  made = 0
  reorganisations = 0
  deepReorganisations = 0
  readonly chain: SimulatedChain
  private readonly random: Random
  private readonly finalizedDepth: number
  /** The highest block that a node could call final so far. */
  private finalNumber = 0

  constructor(chain: SimulatedChain, random: Random, finalizedDepth: number) {
    this.chain = chain
    this.random = random
    this.finalizedDepth = finalizedDepth
    this.noteFinal()
  }

  next(): void {
    const { random, chain } = this
    this.made += 1
    const depth = this.drawDepth()
    if (depth > 0) chain.reorganise({ depth, length: this.drawLength(depth), keep: random.pick(KEPT_SHARES) })
    else if (random.chance(LONG_PAUSE_PERCENT)) chain.mine(chain.head.timeS + random.between(1, 40) * DAY_S)
    else chain.mine()
    this.noteFinal()
  }

  private noteFinal(): void {
    this.finalNumber = Math.max(this.finalNumber, this.chain.head.number - this.finalizedDepth)
  }

  /** 0: the chain goes on without a reorganisation. */
  private drawDepth(): number {
    const { random } = this
    const most = Math.min(this.chain.head.number - this.finalNumber, DEEPEST_BLOCKS)
    if (most > SHALLOW_BLOCKS && random.chance(DEEP_PERCENT)) {
      this.deepReorganisations += 1
      return random.between(SHALLOW_BLOCKS + 1, most)
    }
    if (most < 1 || !random.chance(REORGANISED_PERCENT)) return 0
    this.reorganisations += 1
    return random.between(1, Math.min(SHALLOW_BLOCKS, most))
  }

  /** Mostly one block more than before; now and then fewer, so that the new head is lower. */
  private drawLength(depth: number): number {
    const { random } = this
    if (random.chance(60)) return depth + 1
    if (random.chance(40)) return depth
    return random.chance(50) ? Math.max(1, depth - 1) : depth + random.between(2, 5)
  }
}
