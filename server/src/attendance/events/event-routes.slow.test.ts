import { expect, test } from 'vitest'
import { describeOnOneEngine } from '../../../test/support/database/engines.ts'
import { testClock } from '../../../test/support/http/land-server.ts'
import { HOUR_MS } from '../../clock.ts'
import { readConfig } from '../../config/config.ts'
import { Metrics } from '../../http/metrics.ts'
import { serveRoutes } from '../../http/routes.ts'
import { createServer } from '../../http/server.ts'
import type { Organisers } from '../organisers/organisers.ts'
import { saveEvent } from './event-queries.ts'
import { eventRoutes } from './event-routes.ts'

const EVENT = 1

describeOnOneEngine('the routes of events', (open) => {
  test('a report counts a new rehearsal also where the change fails after its begin', async () => {
    const { db } = await open()
    const clock = testClock()
    await saveEvent(db, {
      eventId: EVENT,
      record: {},
      coordinates: '0,0',
      expiresAtMs: undefined,
      nowMs: clock.nowMs(),
    })
    const done: string[] = []
    const app = await createServer({
      logLevel: 'silent',
      requestTimeoutMs: 5_000,
      trustedProxies: [],
      metrics: new Metrics(),
    })
    await serveRoutes(app, eventRoutes, {
      db,
      clock,
      world: readConfig({}).world,
      // Everybody is the organiser
      organisers: { assertEditCode: async () => undefined } as unknown as Organisers,
      organiserLimit: async () => {},
      assertConfigured: () => {},
      baseOf: () => 'http://localhost',
      events: { get: async () => Promise.reject(new Error('not asked')), forget: () => {} },
      codeCounts: {
        get: async () => Promise.reject(new Error('not asked')),
        isRefused: async () => Promise.reject(new Error('not asked')),
      },
      holds: { find: async () => undefined },
      changeMade: async () => {},
      isOperator: () => false,
      // The row is gone when the event is changed
      rehearsals: {
        begin: async (id) => {
          await db.deleteFrom('attendance_event').where('event_id', '=', id).execute()
          done.push('begun')
        },
      },
      forgetReport: (id) => done.push(`forgotten ${id}`),
    })

    const { statusCode } = await app.inject({
      method: 'PATCH',
      url: `/event/${EVENT}`,
      payload: {
        editCode: '012345',
        options: [['rehearsal_until', new Date(clock.nowMs() + HOUR_MS).toISOString()]],
      },
    })

    expect(statusCode).toBe(500)
    expect(done).toEqual(['begun', `forgotten ${EVENT}`])
    await app.close()
  })
})
