import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

test('docs/contract.md names in each row an endpoint of openapi.json and the file of a test', () => {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'server/openapi.json'), 'utf8'))
  const rows = [
    ...readFileSync(join(ROOT, 'docs/contract.md'), 'utf8').matchAll(/^\| (?!what|of |limit \|).*\|$/gm),
  ]

  expect(rows.length).toBeGreaterThan(40)
  for (const [row] of rows) {
    const [, method = '', path = '', file = ''] =
      /\| `([A-Z]+) (\S+)` \| `(\S+\.test\.ts)` \|$/.exec(row) ?? []
    const test = join(ROOT, file.includes('/') ? file : `server/test/journeys/${file}`)

    expect(paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()], row).toBeDefined()
    expect(existsSync(test), row).toBe(true)
  }
})
