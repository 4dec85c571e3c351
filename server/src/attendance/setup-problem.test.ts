import { expect, test } from 'vitest'
import { readConfig } from '../config/config.ts'
import { halfSetCredentials } from './setup-problem.ts'

const ALL = { ISSUER_API_KEY: 'key', ISSUER_CLIENT_ID: 'client', ISSUER_CLIENT_SECRET: 'secret' }
const saidOf = (env: Record<string, string>) => halfSetCredentials(readConfig(env).attendance.issuer)

test('the log warns where credentials of the other issuer are set in part', () => {
  const { ISSUER_API_KEY, ISSUER_CLIENT_ID } = ALL
  expect(saidOf({ ISSUER_API_KEY })).toMatch(/without ISSUER_CLIENT_ID, ISSUER_CLIENT_SECRET$/)
  expect(saidOf({ ISSUER_API_KEY, ISSUER_CLIENT_ID })).toMatch(/without ISSUER_CLIENT_SECRET$/)
  expect([saidOf({}), saidOf(ALL)]).toEqual([undefined, undefined])
})
