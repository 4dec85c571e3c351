import { Readable } from 'node:stream'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import Type from 'typebox'
import { EVENT_STREAM_HEADERS } from '../../http/event-streams.ts'
import { streamSchema } from '../../http/schemas.ts'
import { parseVersion } from '../../state/differences/state-version.ts'
import type { ChangeStream, KnownState } from './change-stream.ts'

const STATE_PATTERN = '^[\\w.-]{1,100}$'

/** `GET /changes`: an event for every new state of the land (docs/changes.md). */
export const changeRoutes: FastifyPluginCallbackTypebox<{ changeStream: ChangeStream }> = (
  app,
  { changeStream },
  done,
) => {
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
        response: streamSchema(
          EVENT_STREAM_HEADERS['content-type'],
          { description: 'Events, without end.', body: Type.String() },
          ['invalid_parameter', 'world_not_loaded', 'too_many_requests', 'too_many_streams'],
        ),
      },
    },
    (request, reply) => {
      // An answer to HEAD must not stay open.
      if (request.method === 'HEAD') {
        changeStream.assertCanOpen(request)
        return reply.headers(EVENT_STREAM_HEADERS).send(Readable.from([]))
      }
      changeStream.open(request, reply, knownState(request.headers['last-event-id'], request.query.since))
      return reply
    },
  )
  done()
}

/** A browser that reconnects repeats `since`, and sends the id of its last event in the header, which is newer. */
function knownState(lastEventId: string | undefined, since: string | undefined): KnownState {
  const text = lastEventId || since
  return text ? (parseVersion(text) ?? 'unknown') : 'nothing'
}
