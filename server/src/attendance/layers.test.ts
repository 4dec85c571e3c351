import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const FOLDER = fileURLToPath(new URL('../../../src/attendance/', import.meta.url))
/** These may import types of the framework and of `http/`: they connect the parts, count, and hold answers. */
const MAY_IMPORT_TYPES = ['attendance.ts', 'attendance-metrics.ts', 'issuers/own/tokens/token-answers.ts']

interface Import {
  readonly path: string
  readonly isTypeOnly: boolean
  readonly from: string
}

const IMPORTS: readonly Import[] = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .flatMap((path) =>
    [...readFileSync(join(FOLDER, path), 'utf8').matchAll(/^import (type )?[^']*'([^']+)'/gm)].map(
      ([, type, from = '']) => ({ path, isTypeOnly: type !== undefined, from }),
    ),
  )

test('only routes, and the files that README.md names with them, read requests', () => {
  const [, sentence = ''] =
    /^Routes and what reads requests for them: ([\s\S]*?)\. They/m.exec(
      readFileSync(join(FOLDER, 'README.md'), 'utf8'),
    ) ?? []
  const named = [...sentence.matchAll(/`([\w*.-]+)`/g)].map(([, name = '']) => name)
  const isReader = (path: string) =>
    named.some((name) => (name.startsWith('*') ? path.endsWith(name.slice(1)) : basename(path) === name))

  const offences = IMPORTS.filter(({ from }) => /(?:^|\/)http\/|^fastify|^@fastify/.test(from))
    .filter(({ path, isTypeOnly }) => !isReader(path) && !(MAY_IMPORT_TYPES.includes(path) && isTypeOnly))
    .map(({ path, from }) => `${path} imports ${from}`)

  expect(named).toContain('limits.ts')
  expect(offences).toEqual([])
})
