import { LRUCache } from 'lru-cache'
import Type from 'typebox'
import { DATA } from '../../http/answer.ts'
import type { Routes } from '../../http/routes.ts'
import { freshSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { invalidParameter } from '../../http/validation.ts'
import { foldText } from '../common/fold.ts'
import type { LandContext } from '../common/land-context.ts'
import { search } from './search.ts'
import { searchJson } from './search-json.ts'
import { SearchNamesCache } from './search-names.ts'
import { searchResultSchema } from './search-shapes.ts'

/** Cost of a search through all names, in units of one parcel read. */
const SEARCH_UNITS = 6
const MAX_TEXT_LENGTH = 100
const MAX_RESULTS = 50
/** Memory of cached answers: some 300 with ten results each. */
const MAX_CACHED_BYTES = 1_000_000
/** Memory of a cached answer besides its text. */
const ENTRY_BYTES = 300
const TEXT_ALLOWED = `text of 1 to ${MAX_TEXT_LENGTH} characters, spaces around it not counted`

/** `GET /search`: finds parcels, estates, districts and addresses by text (docs/search.md). */
export const searchRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const namesCache = new SearchNamesCache()
  // Many people search for the same words, and for the same first letters of them.
  const answers = new LRUCache<string, string>({
    maxSize: MAX_CACHED_BYTES,
    // A character takes two bytes at most.
    sizeCalculation: (json, name) => 2 * (json.length + name.length) + ENTRY_BYTES,
  })

  app.get(
    '/search',
    {
      schema: {
        tags: ['search'],
        operationId: 'search',
        summary: 'Finds parcels, estates, districts and addresses by text',
        description:
          'Results by coordinates, id or whole address come first. Then names that are the text, begin with it, have a word that \
begins with it, or contain it. The beginning of an address finds owners. Letter case and accents are ignored.',
        querystring: Type.Object({
          q: Type.String({
            minLength: 1,
            'x-allowed': TEXT_ALLOWED,
            description: `What to look for: ${TEXT_ALLOWED}.`,
          }),
          limit: Type.Integer({
            minimum: 1,
            maximum: MAX_RESULTS,
            default: 10,
            description: 'The highest number of results.',
          }),
        }),
        responses: freshSchema(
          Type.Object({
            results: Type.Array(searchResultSchema, { description: 'The best result first.' }),
            total: Type.Integer({ description: 'Number of all results.' }),
            limit: Type.Integer(),
          }),
          ['invalid_parameter'],
        ),
      },
    },
    (request, reply) => {
      const state = land.state()
      const { limit } = request.query
      const wanted = foldText(readText(request.query.q))
      const freshness = state.freshness()
      const name = `${freshness.tag} ${limit} ${wanted}`
      const find = async () => {
        const names = namesCache.namesOf(state)
        const json = searchJson(state, names, await search(state, names, wanted, limit), limit)
        answers.set(name, json)
        return json
      }
      const body = () => answers.get(name) ?? find()
      return send(request, reply, { freshness, format: DATA, cost: SEARCH_UNITS, body })
    },
  )
}

/** Trims the text and checks its length, in code points. @throws {AppError} `invalid_parameter` */
function readText(q: string): string {
  const text = q.trim()
  // A code point has at most two UTF-16 units: longer text is refused without counting code points.
  const isShort = text.length <= 2 * MAX_TEXT_LENGTH && [...text].length <= MAX_TEXT_LENGTH
  if (text === '' || !isShort) throw invalidParameter('q', q, TEXT_ALLOWED)
  return text
}
