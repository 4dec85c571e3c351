import { expect, test } from 'vitest'
import { findSecrets, withBytesAsText } from './find-secrets.ts'

const secrets = new Map([
  ['k3v9zq', 'a claim code'],
  ['730519', 'an edit code'],
  ['simulated-secret', 'the client secret'],
])
const found = (text: string) => findSecrets([{ where: 'the log', text }], secrets)

test('secrets are found as whole words, long ones anywhere', () => {
  expect(found('{"code":"K3V9ZQ"}')).toEqual(['a claim code in the log'])
  expect(found('qr_hash=k3v9zq&x=1 editCode:730519')).toEqual([
    'a claim code in the log',
    'an edit code in the log',
  ])
  expect(found('xsimulated-secretx')).toEqual(['the client secret in the log'])
  expect(found('"responseTime":0.730519,"id":1730519,"hash":"ak3v9zq"')).toEqual([])
})

test('bytes are searched as letters too', () => {
  expect(found(withBytesAsText(`{"encrypted":"\\x${Buffer.from('k3v9zq').toString('hex')}"}`))).toEqual([
    'a claim code in the log',
  ])
})
