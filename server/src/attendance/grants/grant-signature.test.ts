import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { findSigning, makeSecret } from './grant-signature.ts'

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

test('a signature has one spelling: 64 hex digits in lower case', () => {
  const secret = 'lps_one'
  const right = sign(secret)
  const others = [
    right.toUpperCase(),
    `0x${right}`,
    `${right} `,
    `${right}\n`,
    right.slice(2),
    Buffer.from(right, 'hex').toString('base64'),
    '',
    undefined,
    [right],
  ]

  const isRight = (signature: unknown) =>
    findSigning(texts([secret]), { uuid, body, signature }) !== undefined
  expect(isRight(right)).toBe(true)
  for (const signature of others) expect(isRight(signature)).toBe(false)
})
