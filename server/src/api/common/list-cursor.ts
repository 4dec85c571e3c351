import Type, { type Static, type TObject, type TProperties } from 'typebox'
import { AppError } from '../../errors.ts'
import { invalidParameter, parameterReader } from '../../http/validation.ts'
import { strictQuery } from './land-filters.ts'

const ALLOWED = 'the cursor of an answer of this address'
/** The length of a cursor with the longest query: 50 districts and the longest text. */
const MAX_LENGTH = 6_000

/** @param title the name of the parameter in openapi.json */
export function cursorQuery(title: string) {
  return Type.Optional(
    Type.String({
      title,
      pattern: `^[\\w-]{1,${MAX_LENGTH}}$`,
      'x-allowed': ALLOWED,
      description: 'The cursor of the page before. It has all parameters but limit.',
    }),
  )
}

/**
 * Writes and reads the texts that ask for the rows behind a row of a list: the query of the list, and the place of the row in it. They
 * name nothing of the revision, so they hold in every process and at every later revision.
 *
 * @example
 * const cursors = new ListCursors('/v2/sales', { buyer: party })
 * cursors.read(cursors.write({ buyer: '0x…' }, [7]), {}) // { query: { buyer: '0x…' }, place: [7] }
 */
export class ListCursors<Carried extends TProperties> {
  private readonly readQuery: (given: unknown) => { readonly value: Static<TObject<Carried>> }

  /** @param carried the parameters of the list, without those of the page */
  constructor(url: string, carried: Carried) {
    this.readQuery = parameterReader({
      schema: strictQuery(carried),
      method: 'GET',
      url,
      httpPart: 'querystring',
    }) as typeof this.readQuery
  }

  write(query: Static<TObject<Carried>>, place: readonly unknown[]): string {
    return Buffer.from(JSON.stringify([query, ...place])).toString('base64url')
  }

  /**
   * @param others parameters beside the cursor: they would be ignored, because it has them all
   * @returns the place as it was given: whether it is one of the list is for the caller to see
   * @throws {AppError} `invalid_parameter` for parameters beside it, and for a text without a query of the list
   */
  read(
    text: string,
    others: Readonly<Record<string, unknown>>,
  ): { readonly query: Static<TObject<Carried>>; readonly place: readonly unknown[] } {
    for (const [name, value] of Object.entries(others))
      if (value !== undefined) throw invalidParameter(name, value, 'left out beside cursor')
    const [given, ...place] = cursorParts(text)
    if (typeof given !== 'object' || given === null) throw invalidCursor(text)
    try {
      return { query: this.readQuery(given).value, place }
    } catch (error) {
      throw error instanceof AppError ? invalidCursor(text) : error
    }
  }
}

export function invalidCursor(text: string): AppError {
  return invalidParameter('cursor', text, ALLOWED)
}

/** What a cursor was made of; nothing for another text. */
export function cursorParts(text: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}
