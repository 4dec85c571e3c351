import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { emptyDir } from './engines.ts'
import { startSimulatedPooler } from './simulated-pooler.ts'

/** Where packages of PgBouncer install it. */
const INSTALLED = '/usr/sbin/pgbouncer'

/** Programs of real PgBouncers to test with, separated by colons; the installed one by default. */
export const PGBOUNCERS = (process.env.LANDPASS_PGBOUNCER ?? (fs.existsSync(INSTALLED) ? INSTALLED : ''))
  .split(':')
  .filter((file) => file !== '')

/** Starts a pooler that does not keep prepared statements: a real PgBouncer where there is an old one, else the simulated one. */
export function startAnyPooler(databaseUrl: string) {
  const [program] = PGBOUNCERS.filter(isOld)
  return program
    ? startPgBouncer(program, databaseUrl)
    : startSimulatedPooler(databaseUrl, { prepared: 'passed-on' })
}

/** Starts a real PgBouncer in transaction mode, with the settings of docs/operate/database.md. @returns the URL through it */
export async function startPgBouncer(program: string, databaseUrl: string) {
  const target = new URL(databaseUrl)
  const dir = emptyDir()
  fs.chmodSync(dir, 0o755)
  fs.chmodSync(path.dirname(dir), 0o755)
  const users = path.join(dir, 'users.txt')
  const ini = path.join(dir, 'pgbouncer.ini')
  const port = await freePort()
  fs.writeFileSync(users, `"${target.username}" ""\n`)
  const lines = [
    '[databases]',
    `* = host=${target.hostname} port=${target.port}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `auth_file = ${users}`,
    'pool_mode = transaction',
    'default_pool_size = 2',
    // PgBouncer before 1.21 does not know it, and does not start with it
    ...(isOld(program) ? [] : ['max_prepared_statements = 200']),
  ]
  fs.writeFileSync(ini, lines.join('\n').replace('* = ', `* = user=${target.username} `))
  const child = spawn(program, [...(process.getuid?.() === 0 ? ['-u', 'nobody'] : []), ini], {
    stdio: 'ignore',
  })
  await listening(port, child)
  const url = new URL(databaseUrl)
  url.port = String(port)
  return {
    url: url.href,
    stop: async () => {
      if (child.exitCode !== null) return
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

/** Whether it is older than 1.21. */
export function isOld(program: string): boolean {
  const [, minor = '0'] =
    /PgBouncer 1\.(\d+)/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' })) ?? []
  return Number(minor) < 21
}

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as net.AddressInfo
  probe.close()
  return port
}

async function listening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`PgBouncer ended with ${child.exitCode}`)
}
