import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { SECOND_MS, SYSTEM_CLOCK } from '@landpass/server/clock'
import { MIGRATION_NAMES } from '@landpass/server/db/migrate'
import {
  emptyDir,
  freshDatabaseUrl,
  freshDataDir,
  freshEngine,
} from '@landpass/server/test/support/database/engines'
import { demoSnapshot } from '@landpass/server/test/support/land/demo-snapshots'
import { importWorld, shownWorld } from '@landpass/server/test/support/land/worlds'
import {
  type Ended,
  eventually,
  jsonLines,
  landpass,
  serve,
  statusOf,
  takenPort,
} from '@landpass/server/test/support/processes/landpass'
import { landpassHere } from '@landpass/server/test/support/processes/landpass-here'
import { describe, expect, test } from 'vitest'

const open = freshEngine('postgres')

const RADIUS = 12
/** A setting WORLD: a small one is written by the same code. */
const TOWN = '-20,-20,20,20'
const SOON_MS = 4 * SECOND_MS

// Help and wrong use of each command: src/cli/program.test.ts
test('the command line ends with 0 after its help, and with 2 when it is used wrongly', async () => {
  const [help, wrong] = await Promise.all([landpass(['--help']), landpass(['serve', '--fast'])])

  expect(help).toMatchObject({ code: 0, stderr: '' })
  expect(help.stdout).toContain('Usage: landpass')
  expect(wrong).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--fast') })
})

describe('the settings', () => {
  test('are shown as they are in force, without the password', async () => {
    const { code, stdout } = await landpassHere(['config'], {
      PORT: '4000',
      DATABASE_URL: 'postgres://ann:correct-horse@db.example:5433/land?password=battery-staple',
    })

    expect(code).toBe(0)
    expect(stdout).toContain('PORT=4000\n')
    expect(stdout).toContain('HOST=127.0.0.1\n')
    expect(stdout).toContain('DATABASE_URL=postgres://ann:***@db.example:5433/land?***\n')
    expect(stdout).not.toMatch(/correct-horse|battery-staple/)
  })

  test.each(['serve', 'import'])(
    'stop %s when they are wrong: all of them at once, each with its value and what is allowed',
    async (command) => {
      const args = command === 'import' ? ['import', '.'] : [command]
      const { code, stderr } = await landpassHere(args, {
        PORT: '70000',
        LOG_LEVEL: 'loud',
        WORLD: '1,2,3',
        DATABASE_URL: 'mysql://ann:correct-horse@db.example/land',
      })

      expect(code).toBe(1)
      expect(stderr).toContain('PORT is "70000"; allowed: whole number, 0 to 65535')
      expect(stderr).toContain('LOG_LEVEL is "loud"; allowed: fatal, error, warn')
      expect(stderr).toContain('WORLD is "1,2,3"; allowed: minX,minY,maxX,maxY')
      expect(stderr).toContain('DATABASE_URL is ***; allowed: postgres:// address')
      expect(stderr).not.toMatch(/correct-horse|\n {4}at /)
    },
  )
})

test('an operator makes a database, serves it empty, loads a world meanwhile, stops it, and starts it again', async () => {
  const dataDir = emptyDir()
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'info' }
  const applied = await succeeded(landpassHere(['migrate'], env))
  expect(applied.stdout).toBe(`Applied: ${MIGRATION_NAMES.join(', ')}\n`)
  const server = await serve(env)
  expect(server.stdout()).toContain('holds no world yet. Load one: landpass import <folder>')

  const waiting = await fetch(`${server.origin}/health/ready`)
  expect(waiting.status).toBe(503)
  expect(await waiting.json()).toMatchObject({ ok: false, code: 'world_not_loaded' })
  for (const path of ['/v1/parcels/0/0', '/map?nw=0,1&se=1,0', '/districts', '/v1/bids/0x1']) {
    const answer = await fetch(server.origin + path)
    expect(answer.status).toBe(503)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await answer.json()).toMatchObject({ ok: false, code: 'world_not_loaded' })
  }
  expect(await statusOf(`${server.origin}/health/live`)).toBe(200)

  const second = await landpassHere(['serve'], { ...env, PORT: '0' })
  expect(second.code).toBe(1)
  expect(second.stderr).toBe(
    `landpass: The data folder ${dataDir} is in use by process ${server.child.pid}. ` +
      'Stop that process first, or choose another data folder.\n',
  )

  const imported = await landpass(['import', await demoSnapshot(1, RADIUS)], env)
  expect(imported).toMatchObject({ code: 0, stderr: '' })
  expect(imported.stdout.trim().split('\n')).toHaveLength(imported.json.length)
  expect(imported.json.map(({ phase }) => phase)).toEqual(
    expect.arrayContaining(['check', 'load', 'attach', 'show']),
  )
  for (const line of imported.json.slice(0, -1)) {
    expect(line).toEqual({
      phase: expect.any(String),
      done: expect.any(Number),
      total: expect.any(Number),
      rate: expect.any(Number),
      etaMs: line.etaMs === null ? null : expect.any(Number),
    })
  }
  expect(imported.json.at(-1)).toMatchObject({ ok: true, revision: 1, counts: { parcels: 625 } })
  await eventually(
    () => statusOf(`${server.origin}/health/ready`),
    (status) => status === 200,
    SOON_MS,
  )
  const parcel = await fetch(`${server.origin}/v1/parcels/0/0`)
  const { headers, body } = { headers: parcel.headers, body: await parcel.text() }
  expect(parcel.status).toBe(200)

  const demo = await landpassHere(['demo', '--seed', '2'], env)
  expect(demo).toMatchObject({ code: 1 })
  expect(demo.stderr).toContain('holds a world already; --replace puts the demo world in its place')

  expect((await server.stop()).code).toBe(0)
  expect(server.stderr()).toBe('')

  const again = await serve(env)
  await again.said('land loaded')
  expect(jsonLines(again.stdout()).find(({ msg }) => msg === 'land loaded')).toMatchObject({ from: 'copy' })
  expect(await statusOf(`${again.origin}/health/ready`)).toBe(200)
  const same = await fetch(`${again.origin}/v1/parcels/0/0`)
  expect(same.headers.get('etag')).toBe(headers.get('etag'))
  expect(await same.text()).toBe(body)
  expect((await again.stop()).code).toBe(0)
})

test('a port that is taken is named, and nothing keeps the process alive', async () => {
  const port = await takenPort()

  const { code, stderr } = await landpass(['serve'], {
    PORT: String(port),
    DATABASE_URL: await freshDatabaseUrl(),
    DATA_DIR: emptyDir(),
  })

  expect(code).toBe(1)
  expect(stderr).toBe(
    `landpass: Port ${port} is taken by another program. Stop it, or set PORT to another number.\n`,
  )
})

test('a database that cannot be reached is named without its password', async () => {
  const url = 'postgres://ann:correct-horse@127.0.0.1:1/land'
  const { code, stdout, stderr } = await landpassHere(['migrate'], { DATABASE_URL: url })

  expect(code).toBe(1)
  expect(stderr).toMatch(/^landpass: Cannot open the database at 127\.0\.0\.1:1\/land: .*ECONNREFUSED.*\n$/)
  expect(stdout + stderr).not.toContain('correct-horse')
})

test('a world is exported from the embedded database and imported into PostgreSQL, record by record', async () => {
  const folder = await demoSnapshot(1, RADIUS)
  const embedded = { DATA_DIR: emptyDir() } // the import makes the database
  const postgres = { DATABASE_URL: await freshDatabaseUrl() }
  const [first, second] = [join(emptyDir(), 'first'), join(emptyDir(), 'second')]

  await succeeded(landpassHere(['import', folder], embedded))
  await succeeded(landpassHere(['export', first], embedded))
  await succeeded(landpassHere(['import', first], postgres))
  const { json } = await succeeded(landpassHere(['export', second], postgres))

  expect(json.at(-1)).toMatchObject({ ok: true, counts: { parcels: 625 } })
  expect(recordsOf(second)).toEqual(recordsOf(first))
  const [original, exported] = [recordsOf(folder), recordsOf(first)]
  for (const [file, lines] of Object.entries(original)) {
    expect(lines.map(withoutOrder).sort(), file).toEqual(exported[file]?.map(withoutOrder).sort())
  }
  const refused = await landpassHere(['export', second], postgres)
  expect(refused.code).toBe(1)
  expect(refused.stderr).toMatch(/^landpass: .*(?:empty|not empty).*\n$/)
})

test('a broken snapshot is refused with the lines of its errors, and nothing changes', async () => {
  const broken = brokenCopy(await demoSnapshot(2, RADIUS))
  const env = { DATABASE_URL: await freshDatabaseUrl() }
  const { db } = await open({ databaseUrl: env.DATABASE_URL })
  await importWorld(db, await demoSnapshot(1, RADIUS), SYSTEM_CLOCK)
  const before = await shownWorld(db)

  for (const args of [
    ['import', '--dry-run', broken],
    ['import', broken],
  ]) {
    const { code, json } = await landpassHere(args, env)
    expect(code).toBe(1)
    expect(json.at(-1)).toMatchObject({ ok: false, worldId: null, revision: null })
    const { errors } = json.at(-1) as { errors: Record<string, unknown>[] }
    expect(errors).toEqual([
      {
        file: 'parcels.ndjson',
        line: 3,
        field: 'owner',
        value: '"0xNOBODY"',
        reason: expect.stringContaining('address'),
      },
    ])
  }

  expect(await shownWorld(db)).toBe(before)
})

test('the demo world of a seed is the same, byte for byte, whenever it is written', async () => {
  const [one, two] = [join(emptyDir(), 'one'), join(emptyDir(), 'two')]

  const [{ json }] = await Promise.all([
    succeeded(landpass(['demo', '--seed', '3', '--out', one], { WORLD: TOWN })),
    succeeded(landpassHere(['demo', '--seed', '3', '--out', two], { WORLD: TOWN })),
  ])

  expect(json.at(-1)).toMatchObject({ ok: true, seed: 3, folder: one, counts: { parcels: 41 * 41 } })
  expect(readdirSync(one)).toHaveLength(8)
  for (const file of readdirSync(one)) {
    expect(readFileSync(join(one, file)).equals(readFileSync(join(two, file))), file).toBe(true)
  }
})

test.each(['embedded', 'postgres'])('migrating again does nothing (%s)', async (kind) => {
  const env: Record<string, string> =
    kind === 'embedded' ? { DATA_DIR: await freshDataDir() } : { DATABASE_URL: await freshDatabaseUrl() }

  const again = await landpassHere(['migrate'], env)

  expect(again).toMatchObject({ code: 0, stderr: '', stdout: 'The database is up to date.\n' })
})

async function succeeded(command: Promise<Ended>): Promise<Ended> {
  const ended = await command
  expect(ended).toMatchObject({ code: 0, stderr: '' })
  return ended
}

/** The lines of each file of a snapshot. */
function recordsOf(folder: string): Record<string, string[]> {
  return Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.includes('.ndjson'))
      .map((name) => [name, textOf(join(folder, name)).trimEnd().split('\n')]),
  )
}

function textOf(file: string): string {
  const bytes = readFileSync(file)
  return (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8')
}

/** A record as text that does not depend on the order of its fields. */
function withoutOrder(line: string): string {
  return JSON.stringify(sorted(JSON.parse(line)))
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}

/** The same snapshot unpacked and encrypted anew, with an owner in its third parcel who is no address. */
function brokenCopy(folder: string): string {
  const copy = emptyDir()
  const files: Record<string, object> = {}
  for (const [packedName, lines] of Object.entries(recordsOf(folder))) {
    const name = packedName.replace(/\.gz$/, '')
    if (name === 'parcels.ndjson') lines[2] = JSON.stringify({ ...JSON.parse(lines[2]!), owner: '0xNOBODY' })
    const text = `${lines.join('\n')}\n`
    writeFileSync(join(copy, name), text)
    const sha256 = createHash('sha256').update(text).digest('hex')
    files[name] = { records: lines.length, bytes: Buffer.byteLength(text), sha256 }
  }
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'))
  writeFileSync(join(copy, 'manifest.json'), JSON.stringify({ ...manifest, files }))
  return copy
}
