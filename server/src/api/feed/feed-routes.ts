import Type from 'typebox'
import type { Freshness } from '../../freshness.ts'
import { QUERY_UNITS } from '../../http/cost-account.ts'
import type { Routes } from '../../http/routes.ts'
import { formatSchema } from '../../http/schemas.ts'
import { send } from '../../http/send.ts'
import { readChangedAssets } from '../../land/changes/change-journal.ts'
import {
  parseVersion,
  type StateAt,
  type StateVersion,
  stateAt,
  versionOf,
  versionText,
} from '../../state/differences/state-version.ts'
import type { LandContext } from '../common/land-context.ts'
import { FeedBodies } from './feed-bodies.ts'

const FORMAT = { contentType: 'application/vnd.landpass.feed' }

/** `GET /feed`: the world as a binary grid of tiles, or what changed of it (docs/feed.md). */
export const feedRoutes: Routes<{ land: LandContext }> = (app, { land }) => {
  const feed = new FeedBodies(land.bodies, (worldId, range) => readChangedAssets(land.db, worldId, range))

  app.get(
    '/feed',
    {
      schema: {
        tags: ['tiles'],
        operationId: 'feed',
        summary: 'The world as a compact binary grid of tiles, or what changed of it',
        description:
          'Type, joins, on sale, owner and estate of every cell, for map viewers: see docs/feed.md.',
        querystring: Type.Object({
          since: Type.Optional(
            Type.String({
              pattern: '^[\\w.-]{1,100}$',
              'x-allowed': 'a state, as the header of an earlier answer has it',
              description:
                'The state of an earlier answer: only what changed since is sent, or the whole world if that is not \
known.',
            }),
          ),
        }),
        responses: formatSchema(
          FORMAT.contentType,
          {
            description: 'The format of docs/feed.md.',
            body: Type.String({ contentEncoding: 'binary' }),
          },
          ['invalid_parameter', 'database_unavailable'],
        ),
      },
    },
    (request, reply) => {
      const now = stateAt(land.state(), land.clock.nowMs())
      const since = parseVersion(request.query.since ?? '')
      const freshness = feedFreshness(now, since)
      const body = () => (since ? feed.changesSince(since, now) : feed.world(now))
      return send(request, reply, { freshness, format: FORMAT, cost: since ? QUERY_UNITS : 1, body })
    },
  )
}

/** The freshness of the whole feed, or of the differences between the client's state and the current one. */
function feedFreshness(now: StateAt, since?: StateVersion): Freshness {
  const { changedAtMs } = now.state.freshness(now.openOffers.lastExpiryMs)
  const state = versionText(versionOf(now))
  return { tag: since ? `${state}-${versionText(since)}` : state, changedAtMs }
}
