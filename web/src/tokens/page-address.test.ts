import { expect, test } from 'vitest'
import { readPageAddress } from './page-address.ts'

test.each([
  ['/tokens/6b0b6c53', '', { kind: 'token', id: '6b0b6c53' }],
  ['/tokens/6b0b6c53/', '?lang=fr', { kind: 'token', id: '6b0b6c53' }],
  ['/tokens/check', '?lang=fr', { kind: 'check' }],
  ['/tokens/%E0', '', { kind: 'token', id: '%E0' }],
  ['/addresses/0xAb/tokens', '?page=2', { kind: 'collection', address: '0xAb', page: 2 }],
  ['/addresses/0xAb/tokens', '?page=-1', { kind: 'collection', address: '0xAb', page: 1 }],
  ['/addresses/0xAb/tokens', '?page=x', { kind: 'collection', address: '0xAb', page: 1 }],
  ['/addresses/0xAb', '', undefined],
  ['/tokens', '', undefined],
])('%s%s', (pathname, search, subject) => {
  expect(readPageAddress(pathname, search)).toEqual(subject)
})
