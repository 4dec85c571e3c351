import { WrongAnswerError } from './hex-values.ts'

/** Of JSON, about 100 logs: what is made of them is garbage before the young generation is collected again. */
const PART_BYTES = 1 << 16

/**
 * The result of an answer that is a long list, parsed part by part: the objects of ten thousand logs would all be copied by
 * the garbage collector before the first of them is read.
 */
export class JsonList implements Iterable<readonly unknown[]> {
  /** The list without its brackets. */
  private readonly json: Buffer

  constructor(json: Buffer) {
    this.json = json
  }

  /**
   * The items, some at a time.
   *
   * @throws {WrongAnswerError} where the list is not JSON
   */
  *[Symbol.iterator](): Generator<readonly unknown[]> {
    const { json } = this
    let from = 0
    for (let end = this.endOfPart(from); end < json.length; end = this.endOfPart(from)) {
      const items = parsedList(json, from, end)
      // The end of a part may be within a text: then the rest is parsed as a whole.
      if (!items) break
      yield items
      from = end + 1
    }
    const rest = parsedList(json, from, json.length)
    if (!rest) throw new WrongAnswerError('the list of the answer is not JSON')
    yield rest
  }

  /** Where a comma after an object is, or the list ends. */
  private endOfPart(from: number): number {
    const end = this.json.indexOf('},', from + PART_BYTES, 'latin1')
    return end < 0 ? this.json.length : end + 1
  }
}

/** Undefined where this is not JSON, or no item: two parts have a comma between them. */
function parsedList(json: Buffer, from: number, end: number): readonly unknown[] | undefined {
  const items = parsed(`[${json.toString('utf8', from, end)}]`)
  return Array.isArray(items) && items.length > 0 ? items : undefined
}

/**
 * Parses an answer of JSON-RPC. A result that is a long list becomes a {@link JsonList}; everything else is as `JSON.parse`
 * makes it. Undefined for what is not JSON; the parts of a list are only looked at when they are read. No other list may follow
 * a long one: JSON-RPC has none.
 *
 * @example
 * parseAnswer(Buffer.from('{"jsonrpc":"2.0","id":7,"result":[]}')) // { jsonrpc: '2.0', id: 7, result: [] }
 */
export function parseAnswer(body: Buffer): unknown {
  const [open, close] = [body.indexOf('['), body.lastIndexOf(']')]
  if (open < 0 || close - open < PART_BYTES) return parsed(body.toString('utf8'))
  // Without what is between the outermost brackets, the result is an empty list only if the first of them is its own.
  const frame = parsed(`${body.toString('utf8', 0, open)}[]${body.toString('utf8', close + 1)}`)
  return hasEmptyResult(frame)
    ? { ...frame, result: new JsonList(body.subarray(open + 1, close)) }
    : parsed(body.toString('utf8'))
}

function hasEmptyResult(frame: unknown): frame is { readonly result: readonly [] } {
  const { result } = (frame ?? {}) as { readonly result?: unknown }
  return Array.isArray(result) && result.length === 0
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
