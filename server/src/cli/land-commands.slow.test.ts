import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseWorld } from '@landpass/client/grid'
import { expect, test } from 'vitest'
import { emptyDir, freshDatabaseUrl } from '../../test/support/database/engines.ts'
import { tinyRecords, tinySnapshot } from '../../test/support/land/tiny-world.ts'
import { landpassHere } from '../../test/support/processes/landpass-here.ts'
import { V8_OPTIONS } from '../../test/support/processes/v8-options.ts'
import { programPath } from '../../test/support/run/programs.ts'
import { checkSnapshot } from '../land/snapshot/import.ts'

const PROGRAM = programPath('src/cli/main.js')
const NOWHERE = 'postgres://nobody@127.0.0.1:1/nothing'

interface Outcome {
  readonly exitCode: number | null
  /** Every line of stdout, which must all be JSON. */
  readonly lines: readonly Record<string, unknown>[]
  readonly stderr: string
}

interface RunOptions {
  readonly env?: Record<string, string>
  /** Sends SIGINT when the first line with this phase comes out. */
  readonly interruptAt?: string
}

function landpass(args: readonly string[], { env = {}, interruptAt }: RunOptions = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [...V8_OPTIONS, PROGRAM, ...args], {
    env: { ...process.env, WORLD: '-2,-2,2,2', ...env },
  })
  let stdout = ''
  let stderr = ''
  let isInterrupted = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
    if (interruptAt === undefined || isInterrupted || !stdout.includes(`"phase":"${interruptAt}"`)) return
    isInterrupted = child.kill('SIGINT')
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  return new Promise((resolve) => {
    child.on('close', (exitCode) => {
      const lines = stdout.split('\n').slice(0, -1)
      resolve({ exitCode, lines: lines.map((line) => JSON.parse(line)), stderr })
    })
  })
}

/** Like {@link landpass}, in this process. */
async function here(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const { code, stdout, stderr } = await landpassHere(args, { WORLD: '-2,-2,2,2', ...env })
  const lines = stdout.split('\n').slice(0, -1)
  return { exitCode: code, lines: lines.map((line) => JSON.parse(line)), stderr }
}

test('a dry run needs no database, and writes every phase and the result as lines of JSON', async () => {
  const { exitCode, lines } = await landpass(['import', tinySnapshot(), '--dry-run'], {
    env: { DATABASE_URL: NOWHERE },
  })
  expect(exitCode).toBe(0)
  expect(lines.at(0)).toEqual({
    phase: 'check',
    done: expect.any(Number),
    total: 48,
    rate: expect.any(Number),
    etaMs: null,
  })
  expect(lines.at(-1)).toMatchObject({ ok: true, dryRun: true, errorCount: 0 })
})

test('a bad snapshot ends with 1 and its errors', async () => {
  const folder = tinySnapshot({ breakRecord: { set: 'bids', line: 2, with: { price: -1 } } })
  const { exitCode, lines } = await here(['import', folder], { DATABASE_URL: await freshDatabaseUrl() })
  expect(exitCode).toBe(1)
  expect(lines.at(-1)).toMatchObject({
    ok: false,
    errorCount: 1,
    errors: [{ file: 'bids.ndjson.gz', line: 2, field: 'price', value: '-1' }],
  })
})

test('what failed ends with 1 and a sentence', async () => {
  expect(await here(['import', '/no/such/folder'])).toMatchObject({
    exitCode: 1,
    lines: [{ ok: false, error: 'There is no folder /no/such/folder.' }],
  })
  const unreachable = await here(['import', tinySnapshot()], { DATABASE_URL: NOWHERE })
  expect(unreachable).toMatchObject({ exitCode: 1, lines: [{ ok: false }] })
})

test('a demo world written to a folder covers WORLD', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'landpass-cli-')), 'demo')

  const { exitCode, lines } = await here(['demo', '--seed', '7', '--out', folder], {
    WORLD: '5,5,20,9;40,0,41,1',
  })

  expect(exitCode).toBe(0)
  expect(lines.at(-1)).toMatchObject({ ok: true, counts: { parcels: 84 }, worldParcels: 84, warnings: [] })
  const world = parseWorld('5,5,20,9;40,0,41,1')!
  expect(await checkSnapshot(folder, { world })).toMatchObject({ ok: true, warnings: [] })
})

test('ctrl-C while a demo world is written to a folder leaves none that looks complete', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'landpass-cli-'))
  writeFileSync(join(folder, 'manifest.json'), '{}')

  const stopped = await landpass(['demo', '--out', folder], {
    env: { WORLD: '-60,-60,60,60' },
    interruptAt: 'make',
  })

  expect(stopped).toMatchObject({
    exitCode: 1,
    stderr: `landpass: Stopped. The snapshot in ${folder} is not complete.\n`,
  })
  expect(existsSync(join(folder, 'manifest.json'))).toBe(false)
})

test('an import that must not replace a world replaces none', async () => {
  const env = { DATABASE_URL: await freshDatabaseUrl() }
  const folder = tinySnapshot()

  const first = await here(['import', folder, '--if-empty'], env)
  const second = await here(['import', folder, '--if-empty'], env)

  expect(first).toMatchObject({ exitCode: 0, stderr: '' })
  expect(second).toMatchObject({
    exitCode: 1,
    lines: [{ ok: false, error: 'The database holds a world already. Nothing was changed.' }],
  })
  expect(await landpass(['import', folder, '--if-empty', '--dry-run'])).toMatchObject({ exitCode: 2 })
})

test('ctrl-C stops an import, which then has changed nothing', async () => {
  const env = { DATABASE_URL: await freshDatabaseUrl() }
  const records = tinyRecords()
  const [sale] = records.publications
  records.publications = Array.from({ length: 20_000 }, () => sale!)

  const stopped = await landpass(['import', tinySnapshot({ records })], { env, interruptAt: 'check' })
  const exported = await here(['export', join(emptyDir(), 'out')], env)

  expect(stopped).toMatchObject({ exitCode: 1, stderr: 'landpass: Stopped. Nothing was changed.\n' })
  expect(exported).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/There is no world to export/),
  })
})

test.each([
  ['remove', 'event', '2000000001'],
  ['remove', 'player', `0x${'a'.repeat(40)}`],
  ['export', 'out'],
  ['new-lineage'],
  ['re-encrypt'],
  ['approve-event'],
  ['issuer-key', 'show'],
])('%s makes no database where there is none', async (...args) => {
  const env = { DATA_DIR: join(emptyDir(), 'none') }

  const { exitCode, stderr } = await here(args, env)

  expect(exitCode).toBe(1)
  expect(stderr).toBe(
    `landpass: There is no database in ${env.DATA_DIR}. Set DATA_DIR or DATABASE_URL to those of the server.\n`,
  )
  expect(existsSync(env.DATA_DIR)).toBe(false)
})

test('an event that the database does not have cannot be removed', async () => {
  const env = { DATABASE_URL: await freshDatabaseUrl() }
  await here(['import', tinySnapshot()], env)

  for (const event of ['2000000001', '00000000-0000-4000-8000-000000000000']) {
    const { exitCode, stderr } = await here(['remove', 'event', event], env)
    expect([exitCode, stderr]).toEqual([1, `landpass: The database has nothing of an event ${event}.\n`])
  }
})
