import {
  ADDRESSES,
  BLOCKS_OF_GROUP,
  FIRST_BLOCK,
  type MadeLog,
  timeSOf,
  transactionsOf,
} from './made-logs.ts'

/** A block after the made-up history, which a script has added. */
interface NewBlock {
  readonly number: number
  readonly branch: number
  readonly parentHash: string
  readonly timeS: number
  readonly transactions: readonly (readonly MadeLog[])[]
}

/** A part of the logs of one block, as a node answers them, without the brackets of the list. */
interface BlockText {
  readonly block: number
  readonly text: string
}

const ZERO_BLOOM = `0x${'0'.repeat(512)}`
const ANY_ROOT = `0x${'ab'.repeat(32)}`
/** The logs of the history are of this branch; each reorganisation makes another one. */
const FIRST_BRANCH = 1
const ALL_ADDRESSES: readonly string[] = Object.values(ADDRESSES)

/** The made-up history, and blocks that a script adds and replaces. Hashes name branch and number: nothing is hashed. */
export class MadeChain {
  readonly groups: number
  private readonly keepsTexts: boolean
  private readonly texts = new Map<number, readonly BlockText[]>()
  private newBlocks: NewBlock[] = []
  private branch = FIRST_BRANCH

  /** @param keepsTexts whether logs are rendered once: 0.8 kB of memory for each */
  constructor(groups: number, { keepsTexts }: { readonly keepsTexts: boolean }) {
    this.groups = groups
    this.keepsTexts = keepsTexts
  }

  get lastOfHistory(): number {
    return FIRST_BLOCK + this.groups * BLOCKS_OF_GROUP - 1
  }

  get head(): number {
    return this.newBlocks.at(-1)?.number ?? this.lastOfHistory
  }

  hashOf(number: number): string {
    const { branch } = this.newBlocks[number - this.lastOfHistory - 1] ?? { branch: FIRST_BRANCH }
    return blockHash(branch, number)
  }

  /** Adds a block. @param timeS seconds since 1970 */
  add(transactions: readonly (readonly MadeLog[])[], timeS: number): void {
    const { head, branch } = this
    this.newBlocks.push({ number: head + 1, branch, parentHash: this.hashOf(head), timeS, transactions })
  }

  /** Removes the newest blocks; those that are added next are of another branch. */
  drop(count: number): void {
    this.newBlocks = this.newBlocks.slice(0, this.newBlocks.length - count)
    this.branch += 1
  }

  header(number: number): object | null {
    if (number < 0 || number > this.head) return null
    const block = this.newBlocks[number - this.lastOfHistory - 1]
    return {
      number: hex(number),
      hash: this.hashOf(number),
      parentHash: block?.parentHash ?? (number === 0 ? ANY_ROOT : this.hashOf(number - 1)),
      timestamp: hex(block?.timeS ?? timeSOf(number)),
      logsBloom: ZERO_BLOOM,
      receiptsRoot: ANY_ROOT,
    }
  }

  headerByHash(hash: string): object | null {
    const number = Number.parseInt(hash.slice(10), 16)
    return number <= this.head && this.hashOf(number) === hash ? this.header(number) : null
  }

  /** The logs of these blocks as a list in JSON. */
  logsText(first: number, last: number, addresses: readonly string[]): string {
    const parts: string[] = []
    for (let group = groupOf(first); group < this.groups && group <= groupOf(last); group++)
      for (const { block, text } of this.textsOf(group)) if (block >= first && block <= last) parts.push(text)
    for (const block of this.newBlocks)
      if (block.number >= first && block.number <= last && block.transactions.length > 0)
        parts.push(textOf(block.number, this.hashOf(block.number), block.timeS, block.transactions))
    const text = `[${parts.join(',')}]`
    if (ALL_ADDRESSES.every((address) => addresses.includes(address))) return text
    const logs = JSON.parse(text) as readonly MadeLog[]
    return JSON.stringify(logs.filter(({ address }) => addresses.includes(address)))
  }

  private textsOf(group: number): readonly BlockText[] {
    const known = this.texts.get(group)
    if (known) return known
    const transactions = transactionsOf(group)
    const texts = transactions.map((logs, at) => {
      const block = blockAt(group, at, transactions.length)
      return { block, text: textOf(block, blockHash(FIRST_BRANCH, block), timeSOf(block), [logs]) }
    })
    if (this.keepsTexts) this.texts.set(group, texts)
    return texts
  }
}

function groupOf(block: number): number {
  return Math.max(0, Math.floor((block - FIRST_BLOCK) / BLOCKS_OF_GROUP))
}

/** Each transaction of a group has a block of its own. */
function blockAt(group: number, at: number, count: number): number {
  return FIRST_BLOCK + group * BLOCKS_OF_GROUP + Math.floor((at * BLOCKS_OF_GROUP) / count)
}

function blockHash(branch: number, number: number): string {
  return `0x${branch.toString(16).padStart(8, '0')}${number.toString(16).padStart(56, '0')}`
}

function textOf(
  block: number,
  hash: string,
  timeS: number,
  transactions: readonly (readonly MadeLog[])[],
): string {
  const texts: string[] = []
  for (const [at, logs] of transactions.entries()) {
    const place =
      `"blockNumber":"${hex(block)}","blockHash":"${hash}","blockTimestamp":"${hex(timeS)}",` +
      `"transactionHash":"${transactionHash(hash, at)}","transactionIndex":"${hex(at + 7)}"`
    for (const { address, topics, data } of logs)
      texts.push(
        `{"address":"${address}","topics":["${topics.join('","')}"],"data":"${data}",${place},` +
          `"logIndex":"${hex(100 + texts.length)}","removed":false}`,
      )
  }
  return texts.join(',')
}

function transactionHash(blockHash: string, at: number): string {
  return `0x${at.toString(16).padStart(8, 'f')}${blockHash.slice(10)}`
}

function hex(number: number): string {
  return `0x${number.toString(16)}`
}
