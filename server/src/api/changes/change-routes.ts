import { Readable } from 'node:stream'
import Type from 'typebox'
import { EVENT_STREAM_HEADERS } from '../../http/event-streams.ts'
import type { Routes } from '../../http/routes.ts'
import { streamSchema } from '../../http/schemas.ts'
import { invalidParameter } from '../../http/validation.ts'
import { parseVersion } from '../../state/differences/state-version.ts'
import { readLandText } from '../land/land-query.ts'
import type { ChangeStream, KnownState } from './change-stream.ts'
import type { SearchStreams } from './search-streams.ts'

const STATE_PATTERN = '^[\\w.-]{1,100}$'

/** The length of the longest search, with 50 districts and the longest text. */
const MAX_MATCH_LENGTH = 6_000

/** `GET /changes`: an event for every new state of the land, or for what changes for a search (docs/changes.md). */
export const changeRoutes: Routes<{
  changeStream: ChangeStream
  searchStreams: SearchStreams
}> = (app, { changeStream, searchStreams }) => {
  app.get(
    '/changes',
    {
      config: { isEndless: true },
      schema: {
        tags: ['tiles'],
        operationId: 'changeStream',
        summary: 'An event for every change of the land, as it happens',
        description:
          'Server-sent events that name the parcels and estates that changed: see docs/changes.md. The stream has no end.',
        querystring: Type.Object({
          match: Type.Optional(
            Type.String({
              maxLength: MAX_MATCH_LENGTH,
              'x-allowed': `the filters of /v2/land, as in its address, of at most ${MAX_MATCH_LENGTH} characters`,
              description:
                'A search of land: status=open&max_price=1000, with & and = escaped. Events have the rows that began or ceased to match it, or changed.',
            }),
          ),
          since: Type.Optional(
            Type.String({
              pattern: STATE_PATTERN,
              'x-allowed': 'a state, as an event or the header of a feed has it',
              description:
                'The state that you have: the first event names what changed since. Without: the first event is the \
current state.',
            }),
          ),
        }),
        headers: Type.Object({
          'last-event-id': Type.Optional(
            Type.String({
              description:
                'The id of the last event that you have, as browsers send it when they reconnect. Used instead of since.',
            }),
          ),
        }),
        responses: streamSchema(
          EVENT_STREAM_HEADERS['content-type'],
          { description: 'Events, without end.', body: Type.String() },
          ['invalid_parameter', 'world_not_loaded', 'too_many_requests', 'too_many_streams'],
        ),
      },
    },
    (request, reply) => {
      const { match, since } = request.query
      // A browser that reconnects repeats `since`, and sends the id of its last event in the header, which is newer.
      const known = request.headers['last-event-id'] || since
      const search = match === undefined ? undefined : readLandText(match)
      if (search) refuseOthers(request.query)
      // An answer to HEAD must not stay open.
      if (request.method === 'HEAD') {
        if (search) searchStreams.assertCanOpen(request, search)
        else changeStream.assertCanOpen(request)
        return reply.headers(EVENT_STREAM_HEADERS).send(Readable.from([]))
      }
      if (search) searchStreams.open(request, reply, search, known)
      else changeStream.open(request, reply, knownState(known))
      return reply
    },
  )
}

/** A search that was not encoded would be cut at its first `&`. @throws {AppError} `invalid_parameter` */
function refuseOthers({ match, since, ...others }: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(others))
    throw invalidParameter(name, value, 'left out beside match, whose & is written %26')
}

function knownState(text: string | undefined): KnownState {
  return text ? (parseVersion(text) ?? 'unknown') : 'nothing'
}
