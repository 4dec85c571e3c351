import { expect, test } from 'vitest'
import { readConfig } from '../../config/config.ts'
import { shareOfWorker } from './share-of-worker.ts'

test('what each process counts by itself is divided, and 0 stays no limit', () => {
  const env = {
    ...{ WORKERS: '3', CONNECTIONS_MAX: '100', CONNECTIONS_PER_CLIENT: '0', ISSUER_CALLS_PER_SECOND: '6' },
    CHANGE_STREAMS_PER_CLIENT: '3',
  }
  const config = readConfig(env, { maxChangeStreams: 10 })

  expect(shareOfWorker(config)).toMatchObject({
    connections: { max: 34, perClient: 0 },
    changeStreams: { max: 4, perClient: 1 },
    attendance: { issuer: { callsPerSecond: 2, slowCallsPerSecond: 100 / 60 / 3 } },
    readCostPerMinute: config.readCostPerMinute,
  })
})
