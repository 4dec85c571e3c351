import { parseJsonAnswer } from '../../outbound.ts'
import { WrongAnswerError } from './hex-values.ts'

/** A longer answer is only parsed part by part: parsing it at once would stop everything else in this thread. */
const MAX_WHOLE_BYTES = 1 << 22
/** Bytes of JSON, about 100 logs: what is made of them is garbage before the young generation is collected again. */
const PART_BYTES = 1 << 16

/**
 * The result of an answer that is a long list, parsed part by part: the objects of ten thousand logs would all be copied by
 * the garbage collector before the first of them is read.
 */
export class JsonList implements Iterable<readonly unknown[]> {
  private readonly answer: Buffer
  /** The list without its brackets. */
  private readonly json: Buffer

  /** @param open where the list begins in the answer, and `close` where the last list of the answer ends */
  constructor(answer: Buffer, { open, close }: { readonly open: number; readonly close: number }) {
    this.answer = answer
    this.json = answer.subarray(open + 1, close)
  }

  /**
   * The items, some at a time.
   *
   * @throws {WrongAnswerError} where the answer is not JSON
   */
  *[Symbol.iterator](): Generator<readonly unknown[]> {
    const { json } = this
    let [from, count] = [0, 0]
    while (from < json.length) {
      const end = this.endOfPart(from)
      const items = parsedItems(json.toString('utf8', from, end))
      // The end of a part may be within a text, and another list may follow the result.
      if (!items) return yield this.itemsFrom(count)
      yield items
      count += items.length
      from = end + 1
    }
    // A comma at the end
    if (from === json.length) throw notJson()
  }

  /** The items from one on, by the answer as a whole. */
  private itemsFrom(first: number): readonly unknown[] {
    if (this.answer.length > MAX_WHOLE_BYTES) throw notJson()
    const { result } = (parseJsonAnswer(this.answer.toString('utf8')) ?? {}) as { readonly result?: unknown }
    if (!Array.isArray(result) || result.length < first) throw notJson()
    return result.slice(first)
  }

  /** Where a comma after an object is, or the list ends. */
  private endOfPart(from: number): number {
    const end = this.json.indexOf('},', from + PART_BYTES, 'latin1')
    return end < 0 ? this.json.length : end + 1
  }
}

function notJson(): WrongAnswerError {
  return new WrongAnswerError('the answer is not JSON')
}

/** Undefined where this is no list of items: two parts have a comma between them, so each has one at least. */
function parsedItems(text: string): readonly unknown[] | undefined {
  const items = parseJsonAnswer(`[${text}]`)
  return Array.isArray(items) && items.length > 0 ? items : undefined
}

/**
 * Parses an answer of JSON-RPC. A result that is a long list becomes a {@link JsonList}; everything else is as `JSON.parse`
 * makes it. Undefined for what is not JSON, and for megabytes without a list; the parts of a list are only looked at when they are read.
 *
 * @example
 * parseAnswer(Buffer.from('{"jsonrpc":"2.0","id":7,"result":[]}')) // { jsonrpc: '2.0', id: 7, result: [] }
 */
export function parseAnswer(body: Buffer): unknown {
  const [open, close] = [body.indexOf('['), body.lastIndexOf(']')]
  if (open < 0 || close - open < PART_BYTES) return parseWhole(body)
  // Without what is between the outermost brackets, the result is an empty list only if the first of them is its own.
  const frame = parseJsonAnswer(`${body.toString('utf8', 0, open)}[]${body.toString('utf8', close + 1)}`)
  return hasEmptyResult(frame) ? { ...frame, result: new JsonList(body, { open, close }) } : parseWhole(body)
}

function parseWhole(body: Buffer): unknown {
  return body.length > MAX_WHOLE_BYTES ? undefined : parseJsonAnswer(body.toString('utf8'))
}

function hasEmptyResult(frame: unknown): frame is { readonly result: readonly [] } {
  const { result } = (frame ?? {}) as { readonly result?: unknown }
  return Array.isArray(result) && result.length === 0
}
