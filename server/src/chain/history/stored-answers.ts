import { type FileHandle, open, readFile } from 'node:fs/promises'

/** A call of a contract: its address and the data, both in hex. */
export interface ContractCall {
  readonly to: string
  readonly data: string
}

/** What a contract without the function returns; also where it refuses the call. */
export const NO_ANSWER = '0x'

/** A block at whose state a contract was read. */
export interface ReadBlock {
  readonly number: number
  readonly hash: string
  /** Seconds since 1970. */
  readonly timeS: number
}

type Line = [number: number, hash: string, timeS: number, to: string, data: string, returned: string]

/**
 * What contracts returned, in a file that grows by a line for each answer: so a history that is made again, or whose process
 * was killed, does not ask tens of thousands of calls once more. A line that was torn is skipped.
 *
 * @example
 * const answers = await StoredAnswers.open('data/chain/1-5f2c.answers', async ({ number, hash }) => …)
 * await answers.add({ to, data }, block, returned)
 * answers.find({ to, data }) // what was returned
 */
export class StoredAnswers {
  private readonly answers = new Map<string, string>()
  private readonly file: FileHandle

  private constructor(file: FileHandle) {
    this.file = file
  }

  /** @param isUsable whether answers at this block still hold; it is asked once for each block */
  static async open(path: string, isUsable: (block: ReadBlock) => Promise<boolean>): Promise<StoredAnswers> {
    const file = await open(path, 'a+')
    try {
      const stored = new StoredAnswers(file)
      const blocks = new Map<string, boolean>()
      for (const text of (await readFile(path, 'utf8')).split('\n')) {
        const line = parseLine(text)
        if (!line) continue
        const [number, hash, timeS, to, data, returned] = line
        if (!blocks.has(hash)) blocks.set(hash, await isUsable({ number, hash, timeS }))
        if (blocks.get(hash)) stored.answers.set(`${to} ${data}`, returned)
      }
      return stored
    } catch (error) {
      await file.close()
      throw error
    }
  }

  find({ to, data }: ContractCall): string | undefined {
    return this.answers.get(`${to} ${data}`)
  }

  async add({ to, data }: ContractCall, { number, hash, timeS }: ReadBlock, returned: string): Promise<void> {
    this.answers.set(`${to} ${data}`, returned)
    const line: Line = [number, hash, timeS, to, data, returned]
    // The line break comes first: a torn line before it stays alone.
    await this.file.appendFile(`\n${JSON.stringify(line)}`)
  }

  async close(): Promise<void> {
    await this.file.close()
  }
}

function parseLine(text: string): Line | undefined {
  try {
    const line: unknown = JSON.parse(text)
    const isWhole = Array.isArray(line) && line.length === 6 && typeof line[5] === 'string'
    return isWhole ? (line as Line) : undefined
  } catch {
    return undefined
  }
}
