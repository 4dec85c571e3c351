import { generate } from 'lean-qr'
import { expect, test } from 'vitest'
import { QUIET_MODULES, qrPath } from './qr-path.ts'

const ADDRESS = 'https://land.example/organise?event=6b0b6c53-6f5b-4c0e-9b43-2f1d0a7c9e11'

test('the path has every dark module of the code, and nothing else', () => {
  const code = generate(ADDRESS)
  const { side, path } = qrPath(ADDRESS)

  const dark = new Set<string>()
  for (const [, x, y, width] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) {
    for (let i = 0; i < Number(width); i++)
      dark.add(`${Number(x) + i - QUIET_MODULES},${Number(y) - QUIET_MODULES}`)
  }

  expect(side).toBe(code.size + 2 * QUIET_MODULES)
  for (let y = -QUIET_MODULES; y < code.size + QUIET_MODULES; y++) {
    for (let x = -QUIET_MODULES; x < code.size + QUIET_MODULES; x++) {
      expect(dark.has(`${x},${y}`), `${x},${y}`).toBe(code.get(x, y))
    }
  }
})

test('the code of the example has the side that it says', () => {
  expect(qrPath('https://land.example/organise?event=90001').side).toBe(37)
})
