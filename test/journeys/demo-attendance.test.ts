import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { SECOND_MS } from '@landpass/server/clock'
import { emptyDir, freshDatabaseUrl, freshDataDir } from '@landpass/server/test/support/database/engines'
import { childrenOf, isAlive, killHard } from '@landpass/server/test/support/processes/children'
import {
  type Env,
  eventually,
  type Serving,
  serve,
  startLandpass,
  statusOf,
} from '@landpass/server/test/support/processes/landpass'
import { programPath } from '@landpass/server/test/support/run/programs'
import { expect, onTestFinished, test } from 'vitest'

const MAIN = programPath('src/cli/main.js')
const SOON_MS = 10 * SECOND_MS
/** The printed example, to be copied: one command a line, after two blanks. */
const COMMAND = /^ {2}((?:curl|npm) .*)$/gm

const hasCurl = spawnSync('sh', ['-c', 'curl --version']).status === 0

/**
 * `npm start` without its world, which takes longer to make than all of this; scripts/check-fresh-clone.mjs does
 * the same with it.
 */
test.skipIf(!hasCurl)(
  'the printed examples end with a token of this server and one in the ledger, and Ctrl-C ends the server and both simulators',
  async () => {
    const server = await serveDemo()
    const commands = [...server.stdout().matchAll(COMMAND)].map(([, command = '']) => command)
    const simulators = childrenOf(server.child.pid!)

    const said: string[] = []
    for (const command of commands) said.push(await paste(command))

    expect(commands.map((command) => command.split(' ', 1)[0])).toEqual([
      ...['curl', 'npm', 'curl'],
      ...['curl', 'curl', 'npm', 'curl'],
    ])
    expect(JSON.parse(said[0]!)).toMatchObject({ ok: true, data: { approval: 'approved' } })
    expect(said[1]).toMatch(/\ndone: the claim is minted\n$/)
    expect(JSON.parse(said[2]!)).toMatchObject({ ok: true, data: { total: 1 } })
    expect(JSON.parse(said[3]!)).toMatchObject({ ok: true, data: { id: 90_001, coordinates: '52,-10' } })
    expect(JSON.parse(said[4]!)).toMatchObject({ ok: true, data: { body: { num: 100, available: 100 } } })
    expect(said[5]).toMatch(/\nminted: the issuer's ledger has your token\n$/)
    expect(JSON.parse(said[6]!)).toMatchObject({ count: 1, mints: [{ event_id: 90_001 }] })
    expect(simulators).toHaveLength(2)

    const { code, stderr } = await server.stop()

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(simulators.filter(isAlive)).toEqual([])
    for (const address of addressesIn(server)) expect(await statusOf(address), address).toBe(0)
  },
)

/** As small as a world can be that needs a second parcel beyond the reach of the demo city. */
const WORLD = '-5,-5,5,5;1000,0,1000,0'

test.skipIf(!hasCurl)(
  'the land of a first start is alive, the printed commands change it, all simulators end with kill -9, and it goes on afterwards',
  async () => {
    const [env, temporary] = await demoEnv()
    const first = await serve(env, ['--demo'])
    const snapshots = snapshotsIn(temporary)
    const commands = [...first.stdout().matchAll(COMMAND)].map(([, command = '']) => command)
    const [sale, reorganisation, pace] = commands.filter((command) => /sale|depth|per_minute/.test(command))
    await paste(pace!.replace(':60', ':0')) // Until the first sale is seen, nothing else is sold.
    const sold = JSON.parse(await paste(sale!))
    const ownerAfterSale = await eventually(
      () => ownerOf(first, sold),
      (owner) => owner === sold.to,
      SOON_MS,
    )
    const settings = JSON.parse(await paste(pace!))
    for (let i = 0; i < 2; i++) await paste(sale!) // A block each: the reorganisation undoes them.
    const { fork } = JSON.parse(await paste(reorganisation!))
    const seen = await eventually(
      () => chainOf(first),
      ({ block }) => block !== null && block.number >= sold.block.number,
      SOON_MS,
    )
    const children = childrenOf(first.child.pid!)
    expect(children).toHaveLength(3)
    await killHard(first.child)
    await eventually(
      () => children.filter(isAlive),
      ({ length }) => length === 0,
      SOON_MS,
    )
    const second = await serve(env, ['--demo', '--only', 'land'])
    const later = await eventually(
      () => chainOf(second),
      ({ block }) => block!.number > seen.block!.number,
      SOON_MS,
    )
    await second.stop()

    expect({ kind: sold.kind, owner: ownerAfterSale }).toEqual({ kind: 'sale', owner: sold.to })
    expect({ settings, fork, snapshots }).toMatchObject({
      ...{ settings: { transactions_per_minute: 60 }, fork: 1, snapshots: [] },
    })
    expect([seen.state, later.state]).toEqual(['following', 'following'])
  },
)

test.each(['SIGINT', 'SIGHUP'] as const)(
  '%s while the world is made ends the server with 0, its command and the snapshot',
  async (signal) => {
    // On the embedded engine a simulator waits for the snapshot meanwhile.
    const [env, temporary] = await demoEnv(signal === 'SIGHUP' ? await onPostgres() : undefined)
    const { running, children } = await startMakingWorld(env)

    running.child.kill(signal)
    const { code, stdout } = await running.ended

    expect({ code, left: snapshotsIn(temporary) }).toEqual({ code: 0, left: [] })
    expect(children.filter(isAlive)).toEqual([])
    expect(stdout).not.toContain('Landpass is ready')
  },
)

test('a first start whose world cannot be made says so and ends with 1, and its simulator with it', async () => {
  const [env, temporary] = await demoEnv()
  const { running, children } = await startMakingWorld(env)

  process.kill(Math.min(...children), 'SIGKILL') // The command that makes the world: it starts first.
  const { code, stderr } = await running.ended

  expect({ code, left: snapshotsIn(temporary) }).toEqual({ code: 1, left: [] })
  expect(stderr).toContain('landpass: The demo world was not made; the next start tries again.\n')
  expect(children.filter(isAlive)).toEqual([])
})

test('a server that is killed while it makes the world takes its command with it; the next start tidies up and makes it, here with --still and an issuer: nothing is simulated', async () => {
  const [env, temporary] = await demoEnv(await onPostgres())
  const { running, children } = await startMakingWorld(env)

  await killHard(running.child)
  await eventually(
    () => children.filter(isAlive),
    ({ length }) => length === 0,
    SOON_MS,
  )
  const left = snapshotsIn(temporary)
  const issuer = {
    ISSUER_API_KEY: 'a-key',
    ISSUER_CLIENT_ID: 'a-client',
    ISSUER_CLIENT_SECRET: 'a-secret',
  }
  const server = await serve({ ...env, ...issuer }, ['--demo', '--still'])
  const leftByNext = snapshotsIn(temporary)
  const childrenOfNext = childrenOf(server.child.pid!)
  const parcel = await statusOf(`${server.origin}/v1/parcels/0/0`)
  const { state } = await chainOf(server)
  const { code, stderr, stdout } = await server.stop()

  expect(left).toHaveLength(1)
  expect({ code, parcel, leftByNext, state }).toEqual({ code: 0, parcel: 200, leftByNext: [], state: 'off' })
  expect(childrenOfNext).toEqual([])
  expect(stdout).not.toMatch(COMMAND)
  expect(stdout, 'lines of a log among sentences').not.toMatch(/^\{/m)
  expect(stderr.match(/^landpass: demo world: The snapshot covers only part of WORLD.*$/gm)).toHaveLength(1)
})

/** Settings of a start on an empty database, and the folder in which it has its temporary ones. */
async function demoEnv(place?: Env): Promise<readonly [Env, string]> {
  const temporary = mkdtempSync(join(tmpdir(), 'landpass-first-start-'))
  onTestFinished(() => rmSync(temporary, { recursive: true, force: true }))
  const database = place ?? { DATA_DIR: await freshDataDir() }
  return [{ ...database, WORLD, TMPDIR: temporary, LOG_LEVEL: 'warn' }, temporary]
}

/** Starts a server that makes the world, and waits until the processes for that run. */
async function startMakingWorld(env: Env) {
  const running = startLandpass(['serve', '--demo', '--only', 'land'], { PORT: '0', ...env })
  await running.said('Making the demo world')
  const expected = env.DATABASE_URL === undefined ? 2 : 1 // The simulator of the chain comes second.
  const children = await eventually(
    () => childrenOf(running.child.pid!),
    ({ length }) => length === expected,
    SOON_MS,
  )
  return { running, children }
}

/** For what does not depend on the engine: a process on the embedded one needs twice the CPU time. */
async function onPostgres(): Promise<Env> {
  return {
    DATABASE_URL: await freshDatabaseUrl(),
    DATA_DIR: emptyDir(),
    ATTENDANCE_KEY: 'a1'.repeat(32),
  }
}

interface ChainState {
  readonly state: string
  readonly block: { readonly number: number } | null
}

async function chainOf({ origin }: Serving): Promise<ChainState> {
  return ((await (await fetch(`${origin}/v2/chain`)).json()) as { data: ChainState }).data
}

interface Sale {
  readonly asset_type: 'parcel' | 'estate'
  readonly asset_id: string
}

async function ownerOf({ origin }: Serving, { asset_type, asset_id }: Sale): Promise<string> {
  const place = asset_type === 'parcel' ? `parcels/${asset_id.replace(',', '/')}` : `estates/${asset_id}`
  const { data } = (await (await fetch(`${origin}/v1/${place}`)).json()) as { data: { owner: string } }
  return data.owner
}

function snapshotsIn(folder: string): readonly string[] {
  return readdirSync(folder).filter((name) => name.startsWith('landpass-demo-'))
}

async function serveDemo(): Promise<Serving> {
  return serve({ DATA_DIR: await freshDataDir() }, ['--demo', '--only', 'attendance'])
}

/** Runs a line as a shell does; only `npm run landpass --`, which would look whether to compile, is the program itself. */
async function paste(command: string): Promise<string> {
  const line = command
    .replace('npm run landpass --', `'${process.execPath}' '${MAIN}'`)
    .replace(/^curl /, 'curl -sS ')
  const { stdout } = await promisify(execFile)('sh', ['-c', line], { cwd: emptyDir() })
  return stdout
}

function addressesIn(server: Serving): readonly string[] {
  return [...new Set(server.stdout().match(/http:\/\/127\.0\.0\.1:\d+/g))]
}
