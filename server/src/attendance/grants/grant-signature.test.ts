import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { findSigning, makeSecret, wrongForm } from './grant-signature.ts'

const uuid = '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'
const body = Buffer.from('{"nonce":"ß"}')
const texts = (secrets: readonly string[]) => secrets.map((text) => ({ text }))
const sign = (secret: string) => createHmac('sha256', secret).update(`${uuid}\n`).update(body).digest('hex')

test('a secret has 256 random bits, and says what it is', () => {
  const secrets = Array.from({ length: 100 }, makeSecret)

  for (const secret of secrets) expect(secret).toMatch(/^lps_[\w-]{43}$/)
  expect(new Set(secrets).size).toBe(100)
})

test('a grant may be signed with any of the valid secrets', () => {
  const [old, current, other] = [makeSecret(), makeSecret(), makeSecret()]
  const signing = (signature: unknown, secrets = [old, current]) =>
    findSigning(texts(secrets), { uuid, body, signature })?.text

  expect(signing(sign(old))).toBe(old)
  expect(signing(sign(current))).toBe(current)
  expect(signing(sign(other))).toBeUndefined()
  expect(signing(sign(current), [])).toBeUndefined()
})

test('a signature is 64 hex digits in either case; another form is named', () => {
  const secret = 'lps_one'
  const right = sign(secret)
  const bytes = Buffer.from(right, 'hex')
  const others: readonly (readonly [unknown, string])[] = [
    [`sha256=${right}`, 'begins with "sha256="'],
    [`0x${right}`, 'begins with "0x"'],
    [bytes.toString('base64'), 'looks like base64'],
    [bytes.toString('base64url'), 'looks like base64'],
    [`${right} `, 'is something else'],
    [`${right}\n`, 'is something else'],
    [right.slice(2), 'is something else'],
    ['', 'is missing'],
    [undefined, 'is missing'],
    [[right], 'is missing'],
  ]

  const isRight = (signature: unknown) =>
    findSigning(texts([secret]), { uuid, body, signature }) !== undefined
  for (const spelling of [
    right,
    right.toUpperCase(),
    `${right.slice(0, 9).toUpperCase()}${right.slice(9)}`,
  ]) {
    expect([isRight(spelling), wrongForm(spelling)]).toEqual([true, undefined])
  }
  for (const [signature, form] of others) {
    expect([isRight(signature), wrongForm(signature)]).toEqual([false, form])
  }
})
