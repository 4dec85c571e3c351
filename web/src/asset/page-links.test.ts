import { expect, test } from 'vitest'
import { filled } from './page-links.tsx'

test('names in braces are filled, and what has no value stays', () => {
  const values = { x: '1', y: '-2' }

  expect(filled('https://game.example/?at={x},{y}&x={x}', values)).toBe('https://game.example/?at=1,-2&x=1')
  expect(filled('https://game.example/{z}', values)).toBe('https://game.example/{z}')
})
