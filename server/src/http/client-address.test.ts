import { expect, test } from 'vitest'
import { trustIn } from './client-address.ts'

test.each([
  ['10.0.0.0/8', ['10.200.0.1', '::ffff:10.200.0.1', '::ffff:ac8:1', '10.0.0.1:4711'], ['11.0.0.1', '::1']],
  ['192.0.2.7', ['192.0.2.7', '::ffff:192.0.2.7'], ['192.0.2.8', '::ffff:192.0.2.8']],
  ['::ffff:10.0.0.0/104', ['10.1.2.3', '::ffff:10.1.2.3'], ['11.1.2.3']],
  ['2001:db8::/32', ['2001:db8::9', '[2001:db8::9]:443'], ['2001:db9::9', '10.0.0.1']],
  ['::1', ['::1'], ['127.0.0.1', '::2', '', 'unknown']],
])(
  '%s are trusted proxies in every way to write their addresses, and no others',
  (range, proxies, others) => {
    const isTrusted = trustIn([range])
    expect(proxies.filter((address) => !isTrusted(address))).toEqual([])
    expect(others.filter(isTrusted)).toEqual([])
  },
)
