import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { DATA, send } from '../../http/answer.ts'
import { freshSchema } from '../../http/schemas.ts'
import { invalidParameter } from '../../http/validation.ts'
import type { LandContext } from '../common/land-context.ts'
import { search } from './search.ts'
import { searchJson } from './search-json.ts'
import { SearchNamesKeeper } from './search-names.ts'
import { searchResultSchema } from './search-shapes.ts'

export const MAX_TEXT_LENGTH = 100
export const MAX_RESULTS = 50
const TEXT_ALLOWED = `text of 1 to ${MAX_TEXT_LENGTH} characters, spaces around it not counted`

/** `GET /search`: places by what people type (docs/search.md). */
export const searchRoutes: FastifyPluginCallbackTypebox<{ land: LandContext }> = (app, { land }, done) => {
  const keeper = new SearchNamesKeeper()

  app.get(
    '/search',
    {
      schema: {
        tags: ['search'],
        operationId: 'search',
        summary: 'Parcels, estates, districts and addresses by what people type',
        description:
          'Coordinates, ids and whole addresses first, then names: the same, beginning with the text, having a word that \
does, containing it. The beginning of an address finds owners. Letter case and accents make no difference.',
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
            description: 'Results at most.',
          }),
        }),
        response: freshSchema(
          Type.Object({
            results: Type.Array(searchResultSchema, { description: 'The best first.' }),
            total: Type.Integer({ description: 'All that were found.' }),
            limit: Type.Integer(),
          }),
          ['invalid_parameter'],
        ),
      },
    },
    (request, reply) => {
      const state = land.state()
      const { limit } = request.query
      const text = readText(request.query.q)
      const body = async () => {
        const names = keeper.namesOf(state)
        return searchJson(state, names, await search(state, names, text, limit), limit)
      }
      return send(request, reply, { freshness: state.freshness(), format: DATA, body })
    },
  )
  done()
}

/** Characters are code points: an emoji counts as one or a few, not as twice that. */
function readText(q: string): string {
  const text = q.trim()
  // Twice as many units as characters at most: what is longer is not counted.
  const isShort = text.length <= 2 * MAX_TEXT_LENGTH && [...text].length <= MAX_TEXT_LENGTH
  if (text === '' || !isShort) throw invalidParameter('q', q, TEXT_ALLOWED)
  return text
}
