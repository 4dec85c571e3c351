import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const RECORD = 'web/dist/.inputs.json'

interface PageInputs {
  arePagesStale(root: string): boolean
  recordPageInputs(root: string, modules: readonly string[]): void
}

/** What a developer changed last time, whose pages kept the old code: the grid, which lies outside of `web/`. */
const GRID_SOURCE = 'client/src/grid/coord.ts'
const GRID_COMPILED = 'client/dist/grid/coord.js'

const { arePagesStale, recordPageInputs } = (await import(
  pathToFileURL(join(ROOT, 'web/page-inputs.mjs')).href
)) as PageInputs
const RECORDED = JSON.parse(readFileSync(join(ROOT, RECORD), 'utf8')) as { readonly files: readonly string[] }
const { files } = RECORDED

describe('the pages know what they were made of', () => {
  test('compiled code of the client among it', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        GRID_COMPILED,
        'client/dist/client.js',
        'client/dist/feed/feed-reader.js',
        'web/src/map-page.tsx',
        'web/src/worker/service-worker.ts',
      ]),
    )
  })

  test('and are fresh as long as all of it is what it was', () => {
    const copy = copyOfInputs()

    expect(arePagesStale(copy)).toBe(false)
    expect(arePagesStale(ROOT)).toBe(false)
  })

  test.each([
    GRID_COMPILED,
    'client/dist/feed/feed-reader.js',
    'web/src/map-page.tsx',
    'web/src/map/map.css',
    'web/index.html',
    'web/public/icon.svg',
    'web/vite.config.ts',
    'package-lock.json',
  ])('a change of %s makes them stale', (path) => {
    const copy = copyOfInputs()
    const before = readFileSync(join(copy, path))

    appendFileSync(join(copy, path), '\n')
    expect(arePagesStale(copy)).toBe(true)
    writeFileSync(join(copy, path), before)
    expect(arePagesStale(copy)).toBe(false)
  })

  test('so does a file that is gone, one that came, and a record that is missing', () => {
    const copy = copyOfInputs()

    writeFileSync(join(copy, 'web/public/new.svg'), '<svg/>')
    expect(arePagesStale(copy)).toBe(true)
    rmSync(join(copy, 'web/public/new.svg'))
    expect(arePagesStale(copy)).toBe(false)
    rmSync(join(copy, GRID_COMPILED))
    expect(arePagesStale(copy)).toBe(true)
    rmSync(join(copy, RECORD))
    expect(arePagesStale(copy)).toBe(true)
  })

  test('so does a record that was cut off, or that is none', () => {
    const copy = copyOfInputs()
    const record = readFileSync(join(copy, RECORD), 'utf8')

    for (const text of ['', record.slice(0, record.length / 2), 'null', '{}', '{"files":[1]}', '[]']) {
      writeFileSync(join(copy, RECORD), text)
      expect(arePagesStale(copy)).toBe(true)
    }
    writeFileSync(join(copy, RECORD), record)
    expect(arePagesStale(copy)).toBe(false)
  })

  test('a new record takes the place of the old one and leaves no other file', () => {
    const copy = copyOfInputs()

    recordPageInputs(copy, [join(copy, 'web/src/map-page.tsx')])

    expect(arePagesStale(copy)).toBe(false)
    expect(readdirSync(join(copy, 'web/dist'))).toEqual(['.inputs.json'])
  })

  test('what is installed is not among them, whichever separators the bundler writes', () => {
    const copy = copyOfInputs()
    const ours = join(copy, 'web/src/map-page.tsx')
    const installed = ['node_modules/a/index.js', 'web\\node_modules\\b.js'].map((path) => join(copy, path))
    for (const path of installed) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, '')
    }

    recordPageInputs(copy, [ours, ...installed, '\0virtual', join(copy, 'web/src/missing.ts')])

    const { files: recorded } = JSON.parse(readFileSync(join(copy, RECORD), 'utf8')) as typeof RECORDED
    expect(recorded).toContain('web/src/map-page.tsx')
    expect(recorded.filter((file) => /node_modules|virtual|missing/.test(file))).toEqual([])
  })
})

describe('compiling', () => {
  test('takes a changed source over and a deleted one away, says so the first time, and else nothing', () => {
    const copy = temporaryFolder()
    for (const path of ['tsconfig.base.json', 'client/tsconfig.json', 'client/package.json', 'client/src'])
      cpSync(join(ROOT, path), join(copy, path), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'junction')
    const compiled = () => readFileSync(join(copy, GRID_COMPILED), 'utf8')
    const extra = join(copy, 'client/src/grid/extra')
    writeFileSync(`${extra}.ts`, 'export const extra = 1\n')

    expect(compile(copy)).toMatch(/^landpass: compiling/)
    const before = compiled()
    expect(existsSync(join(copy, 'client/dist/grid/extra.js'))).toBe(true)
    expect(compile(copy)).toBe('')
    expect(compiled()).toBe(before)

    appendFileSync(join(copy, GRID_SOURCE), '\nexport const changed = true\n')
    rmSync(`${extra}.ts`)
    expect(compile(copy)).toBe('')

    expect(compiled()).toContain('changed = true')
    for (const end of ['.js', '.d.ts', '.js.map'])
      expect(existsSync(join(copy, `client/dist/grid/extra${end}`))).toBe(false)
  })
})

/** What it printed. */
function compile(root: string): string {
  const script = pathToFileURL(join(ROOT, 'scripts/compile.mjs')).href
  const code = `const { compile } = await import(${JSON.stringify(script)}); process.exit(await compile(${JSON.stringify(root)}, ['client'], { checksTypes: true }))`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return stdout + stderr
}

/** The recorded files at their places, and nothing else. */
function copyOfInputs(): string {
  const copy = temporaryFolder()
  for (const path of [...files, RECORD, 'web/public'])
    cpSync(join(ROOT, path), join(copy, path), { recursive: true })
  return copy
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'landpass-pages-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
