import { expect, test } from 'vitest'
import { testClock } from '../../../test/support/http/land-server.ts'
import { ServiceState } from '../service-state.ts'
import { type Issuer, IssuerError } from './issuer.ts'
import { watched } from './watched-issuer.ts'

const outcomes: readonly (readonly [unknown, boolean | undefined])[] = [
  [undefined, true],
  [new IssuerError('unavailable', { call: 'listCodes' }), false],
  [new IssuerError('refused', { call: 'listCodes' }), false],
  [new IssuerError('busy', { call: 'listCodes' }), undefined],
  [new Error('the lease of the claim has ended'), undefined],
]

test.each(outcomes)('a call that ends with %s says of the issuer: %s', async (error, isAnswering) => {
  const state = new ServiceState(testClock())
  const listCodes = async () => {
    if (error) throw error
    return []
  }
  const issuer = watched({ listCodes } as unknown as Issuer, state)

  const outcome = await issuer.listCodes(7, 'any').catch((thrown) => thrown)

  expect(outcome).toEqual(error ?? [])
  expect(state.current?.isAnswering).toBe(isAnswering)
})
