import fc from 'fast-check'
import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { publicBase } from './public-base.ts'

function requestFor(host: string | undefined, protocol = 'http'): FastifyRequest {
  return { headers: { host }, protocol, socket: { localPort: 3000 } } as unknown as FastifyRequest
}

test('the setting has priority over the Host header', () => {
  expect(publicBase(requestFor('elsewhere.example'), 'https://land.example.org')).toBe(
    'https://land.example.org',
  )
})

test('without it, the host of the request is the base', () => {
  const hosts = ['localhost:3000', 'land.example.org', '127.0.0.1:80', '[::1]:3000', 'a', 'x-1.example.']
  for (const host of hosts) expect(publicBase(requestFor(host), undefined)).toBe(`http://${host}`)
  expect(publicBase(requestFor('Land.Example.ORG', 'https'), undefined)).toBe('https://land.example.org')
})

test('a malformed Host header is not used', () => {
  const others = [
    undefined,
    '',
    'a/b',
    'a b',
    'a?b',
    'a#b',
    'user@a',
    'a:b',
    'a:123456',
    'a:65536',
    '1.2.3.4.5',
    '[12345::]',
    '[::1',
    'é',
  ]
  for (const host of [...others, 'a"b', '<b>', 'a'.repeat(254), 'a\n'])
    expect(publicBase(requestFor(host), undefined), String(host)).toBe('http://localhost:3000')
})

test('for any Host header, the base is an address without path, query and user name', () => {
  const host = fc.oneof(fc.string(), fc.webAuthority({ withPort: true, withUserInfo: true }), fc.ipV6())
  fc.assert(
    fc.property(host, (sent) => {
      const base = publicBase(requestFor(sent), undefined)
      const url = new URL(`${base}/x`)
      expect([url.protocol, url.username, url.pathname, url.search, url.hash]).toEqual([
        'http:',
        '',
        '/x',
        '',
        '',
      ])
    }),
  )
})

test('an unknown protocol is not used', () => {
  for (const protocol of ['javascript', 'HTTPS', '', 'https"']) {
    expect(publicBase(requestFor('land.example.org', protocol), undefined)).toBe('http://land.example.org')
  }
})
