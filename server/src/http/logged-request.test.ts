import { expect, test } from 'vitest'
import { loggedAddress } from './logged-request.ts'

test('an address is logged with the query that its endpoint reads, unless it may contain a secret', () => {
  const endpoint = (url: string, isAddressPrivate: boolean, querystring?: object) => ({
    url,
    config: { url, method: 'POST', isAddressPrivate },
    schema: { querystring },
  })
  const logged = (url: string, routeOptions: { url?: string; config?: object }) =>
    loggedAddress({ url, routeOptions } as Parameters<typeof loggedAddress>[0])

  expect(logged('/v1/parcels?limit=5', endpoint('/v1/parcels', false, {}))).toBe('/v1/parcels?limit=5')
  expect(logged('/organise?editCode=012345', endpoint('/organise', false))).toBe('/organise')
  expect(logged('/event/90001?editCode=012345', endpoint('/event/:event', true))).toBe('/event/:event')
  expect(logged('/event/90001/012345', {})).toBe('/event…')
  expect(logged('/event?editCode=012345', {})).toBe('/event…')
})
