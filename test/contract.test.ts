import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('docs/contract.md names in each row an endpoint of openapi.json, and a test that names it too', () => {
  const page = readFileSync(join(ROOT, 'docs/contract.md'), 'utf8')
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'server/openapi.json'), 'utf8'))
  const [, journeys = ''] = /Tests without a folder are in `([\w/]+)`/.exec(page) ?? []
  const rows = [...page.matchAll(/^\| (?!what|of |limit \|).*\|$/gm)]

  expect(rows.length).toBeGreaterThan(40)
  for (const [row] of rows) {
    const [, method = '', path = '', file = ''] =
      /\| `([A-Z]+) (\S+)` \| `(\S+\.test\.ts)` \|$/.exec(row) ?? []
    const test = join(ROOT, file.includes('/') ? file : `${journeys}/${file}`)

    expect(paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()], row).toBeDefined()
    expect(existsSync(test), row).toBe(true)
    const words = path.split('/').filter((word) => word !== '' && !word.startsWith(':'))
    for (const word of words) expect(readFileSync(test, 'utf8'), row).toContain(word)
  }
})
