import { expect, test } from 'vitest'
import { acceptedEncoding } from './content-encoding.ts'

test.each([
  ['br', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['GZIP', 'gzip'],
  [' br ; q=0.4 , gzip ; q=0.5 ', 'gzip'],
  ['br;q=0.001', 'br'],
  ['br;q=0, gzip', 'gzip'],
  ['gzip;q=1.000,br;q=1', 'br'],
  ['*', 'br'],
  ['*;q=0.5, br;q=0', 'gzip'],
  ['gzip;q=0, br;q=0, *', undefined],
  ['identity', undefined],
  ['zstd, deflate', undefined],
  ['br;q=0', undefined],
  ['br;q=2', undefined],
  ['br;q=', undefined],
  ['brx', undefined],
  ['', undefined],
])('Accept-Encoding %j gets %j', (accepted, encoding) => {
  expect(acceptedEncoding(accepted)).toBe(encoding)
})
