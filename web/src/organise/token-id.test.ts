import { expect, test } from 'vitest'
import { readTokenId } from './token-id.ts'

const ID = '6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'

test.each([
  ID,
  ` ${ID.toUpperCase()}\n`,
  `https://tokens.example.org/tokens/${ID}`,
  `Look: https://tokens.example.org/tokens/${ID}?lang=es, thank you`,
  ID.replaceAll('-', '\u2010'),
])('%j is that token', (text) => {
  expect(readTokenId(text)).toBe(ID)
})

test.each(['', '7591359', 'https://tokens.example.org/tokens/', `0${ID}`, `${ID}0`])(
  '%j is no token',
  (text) => {
    expect(readTokenId(text)).toBeUndefined()
  },
)
