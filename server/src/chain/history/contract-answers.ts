import { SECOND_MS } from '../../clock.ts'
import type { BlockHeader } from '../chain-types.ts'
import { type ChainSource, ContradictionError } from '../follow/chain-source.ts'
import { type NearAnswer, type NearOptions, readerNear } from './read-near.ts'
import { SILENT_UNTIL_MS } from './silent-operators.ts'
import { type ContractCall, type ReadBlock, StoredAnswers } from './stored-answers.ts'

export interface ContractAnswersOptions extends NearOptions {
  readonly source: NearOptions['source'] & Pick<ChainSource, 'headerByNumber'>
}

/** What a contract returned, and what of it may be undone. */
export type ContractAnswer = Pick<NearAnswer, 'returned' | 'unsettled'>

/**
 * Calls contracts near the end of the history. It asks only for what is not stored, and stores what cannot be undone.
 *
 * @example
 * const answers = new ContractAnswers('data/chain/1-5f2c.answers', options)
 * await answers.moveTo(block)
 * await answers.read({ to, data })
 * await answers.close()
 */
export class ContractAnswers {
  private readonly path: string
  private readonly options: ContractAnswersOptions
  private readonly opened: StoredAnswers[] = []
  private near: ((call: ContractCall) => Promise<NearAnswer>) | undefined

  constructor(path: string, options: ContractAnswersOptions) {
    this.path = path
    this.options = options
  }

  /** From now on, contracts are read after this block, which must be final. */
  async moveTo(block: BlockHeader): Promise<void> {
    this.opened.push(await StoredAnswers.open(this.path, (stored) => this.isUsable(stored, block)))
    this.near = readerNear(block, this.options)
  }

  async read(call: ContractCall): Promise<ContractAnswer> {
    const [stored, near] = [this.opened.at(-1)!, this.near!]
    const known = stored.find(call)
    if (known !== undefined) return { returned: known, unsettled: [] }
    const answer = await near(call)
    if (answer.isFinal) await stored.add(call, answer.block, answer.returned)
    return answer
  }

  async close(): Promise<void> {
    // A call that has begun at an earlier block may still use its file.
    for (const stored of this.opened) await stored.close()
  }

  /** Whether an answer at this block is also that after `block`. */
  private async isUsable({ number, hash, timeS }: ReadBlock, block: BlockHeader): Promise<boolean> {
    if (hash === block.hash) return true
    if (number > block.number || timeS * SECOND_MS < SILENT_UNTIL_MS) return false
    try {
      return (await this.options.source.headerByNumber(number)).hash === hash
    } catch (error) {
      if (error instanceof ContradictionError) return false // The node does not have that block.
      throw error
    }
  }
}
